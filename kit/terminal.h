/*
 * What a picture on a terminal needs: its size, its owner, and control codes.
 */
#ifndef TAKT_KIT_TERMINAL_H
#define TAKT_KIT_TERMINAL_H

#include <stdbool.h>

/* Moves to the beginning of the line and clears the line. */
#define TAKT_TERMINAL_WIPE "\r\033[K"

/* Whether the file is a terminal that understands cursor movements. */
bool takt_terminal_can_draw(int fd);

/* Whether this process has a controlling terminal. A process that has lost it was left behind when
 * the terminal closed. */
bool takt_terminal_is_there(void);

/* False: the terminal belongs to another job, since a shell has put this process into the
 * background. */
bool takt_terminal_is_ours(int fd);

/* Columns and rows; 80 and 24 if unknown. Read for each picture, which is cheaper than handling
 * SIGWINCH. */
void takt_terminal_size(int fd, unsigned *columns, unsigned *rows);

#endif
