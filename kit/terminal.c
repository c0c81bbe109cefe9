/*
 * terminal.c: see terminal.h.
 */
#include "kit/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool takt_terminal_can_draw(int fd)
{
    const char *kind = getenv("TERM");

    return isatty(fd) && kind && *kind && strcmp(kind, "dumb") != 0;
}
