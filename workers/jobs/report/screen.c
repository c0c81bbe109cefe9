/*
 * screen.c: asks the terminal for its size each time, since it costs less than hearing of changes.
 */
#include "screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_USUAL 80
#define ROWS_USUAL    24

bool screen_is_possible(int fd)
{
    const char *kind = getenv("TERM");

    return isatty(fd) && kind && *kind && strcmp(kind, "dumb") != 0;
}

void screen_open(screen *screen, int fd)
{
    screen->fd = fd;
    screen->drawn.count = 0;
}

static void measure(screen *screen)
{
    struct winsize window = {0};

    if (ioctl(screen->fd, TIOCGWINSZ, &window) != 0)
        window.ws_col = window.ws_row = 0;
    screen->columns = window.ws_col > 0 ? window.ws_col : COLUMNS_USUAL;
    screen->rows = window.ws_row > 0 ? window.ws_row : ROWS_USUAL;
}

/* A shell may have put us into the background, and written there itself since. */
static bool is_ours(const screen *screen)
{
    pid_t foremost = tcgetpgrp(screen->fd);

    return foremost < 0 || foremost == getpgrp();
}

void screen_draw(screen *screen, sink *sink, const figures *figures, const takt_policy *policy)
{
    if (!is_ours(screen)) {
        screen_forget(screen);
        return;
    }
    if (sink->text.size > 0)
        return;
    measure(screen);
    picture_make(&screen->fresh, figures, policy, screen->columns, screen->rows);
    size_t size = picture_draw(&screen->drawn, &screen->fresh, screen->columns, screen->text);
    if (sink_put(sink, screen->text, size))
        screen->drawn = screen->fresh;
}

void screen_wipe(screen *screen, sink *sink)
{
    if (screen->drawn.count == 0 || !is_ours(screen))
        return;
    measure(screen);
    size_t size = picture_wipe(&screen->drawn, screen->columns, screen->text);
    if (sink_put(sink, screen->text, size))
        screen->drawn.count = 0;
}

void screen_forget(screen *screen)
{
    screen->drawn.count = 0;
}
