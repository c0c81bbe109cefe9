/*
 * screen.c: asks the terminal for its size each time, since it costs less than hearing of changes.
 */
#include "screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_USUAL 80
#define ROWS_USUAL    24

void takt_screen_open(takt_screen *screen, int fd)
{
    screen->fd = fd;
    screen->drawn.count = 0;
}

static void measure(takt_screen *screen)
{
    struct winsize window = {0};

    if (ioctl(screen->fd, TIOCGWINSZ, &window) != 0)
        window.ws_col = window.ws_row = 0;
    screen->columns = window.ws_col > 0 ? window.ws_col : COLUMNS_USUAL;
    screen->rows = window.ws_row > 0 ? window.ws_row : ROWS_USUAL;
}

/* A shell may have put us into the background, and written there itself since. */
static bool is_ours(const takt_screen *screen)
{
    pid_t foremost = tcgetpgrp(screen->fd);

    return foremost < 0 || foremost == getpgrp();
}

void takt_screen_draw(takt_screen *screen, takt_sink *sink, const takt_figures *figures,
                      const takt_policy *policy)
{
    if (!is_ours(screen)) {
        takt_screen_forget(screen);
        return;
    }
    if (sink->text.size > 0)
        return;
    measure(screen);
    takt_report_picture_make(&screen->fresh, figures, policy, screen->columns, screen->rows);
    size_t size =
        takt_report_picture_draw(&screen->drawn, &screen->fresh, screen->columns, screen->text);
    if (takt_sink_put(sink, screen->text, size))
        screen->drawn = screen->fresh;
}

void takt_screen_wipe(takt_screen *screen, takt_sink *sink)
{
    if (screen->drawn.count == 0 || !is_ours(screen))
        return;
    measure(screen);
    size_t size = takt_report_picture_wipe(&screen->drawn, screen->columns, screen->text);
    if (takt_sink_put(sink, screen->text, size))
        screen->drawn.count = 0;
}

void takt_screen_forget(takt_screen *screen)
{
    screen->drawn.count = 0;
}
