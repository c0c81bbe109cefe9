/*
 * What can be done with a terminal.
 */
#ifndef TAKT_KIT_TERMINAL_H
#define TAKT_KIT_TERMINAL_H

#include <stdbool.h>

/* Whether the file is a terminal that moves its cursor when it is told to. */
bool takt_terminal_can_draw(int fd);

#endif
