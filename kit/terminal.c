/*
 * terminal.c: see terminal.h.
 */
#include "kit/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_USUAL 80
#define ROWS_USUAL    24

bool takt_terminal_can_draw(int fd)
{
    const char *kind = getenv("TERM");

    return isatty(fd) && kind && *kind && strcmp(kind, "dumb") != 0;
}

bool takt_terminal_is_there(void)
{
    int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

bool takt_terminal_is_ours(int fd)
{
    pid_t foreground = tcgetpgrp(fd);

    return foreground < 0 || foreground == getpgrp();
}

void takt_terminal_size(int fd, unsigned *columns, unsigned *rows)
{
    struct winsize window = {0};

    if (ioctl(fd, TIOCGWINSZ, &window) != 0)
        window.ws_col = window.ws_row = 0;
    *columns = window.ws_col > 0 ? window.ws_col : COLUMNS_USUAL;
    *rows = window.ws_row > 0 ? window.ws_row : ROWS_USUAL;
}
