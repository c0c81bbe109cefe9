/*
 * What can be done with a terminal, and what a picture on it needs to know.
 */
#ifndef TAKT_KIT_TERMINAL_H
#define TAKT_KIT_TERMINAL_H

#include <stdbool.h>

/* To the beginning of the line, which becomes empty. */
#define TAKT_TERMINAL_WIPE "\r\033[K"

/* Whether the file is a terminal that moves its cursor when it is told to. */
bool takt_terminal_can_draw(int fd);

/* Whether this process has a terminal from which it is controlled.  One that had and has no more
 * was left behind when the terminal closed. */
bool takt_terminal_is_there(void);

/* False: a shell has put this process into the background, and the terminal is another job's. */
bool takt_terminal_is_ours(int fd);

/* Its columns and rows, 80 and 24 where it does not report them.  Asked for at each picture, which
 * costs less than handling SIGWINCH. */
void takt_terminal_size(int fd, unsigned *columns, unsigned *rows);

#endif
