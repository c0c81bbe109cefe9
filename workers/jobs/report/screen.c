/*
 * screen.c: see screen.h.
 */
#include "screen.h"

#include "kit/terminal.h"

void takt_screen_open(takt_screen *screen, int fd)
{
    screen->fd = fd;
    screen->drawn.count = 0;
}

void takt_screen_draw(takt_screen *screen, takt_sink *sink, const takt_figures *figures,
                      const takt_policy *policy)
{
    if (!takt_terminal_is_ours(screen->fd)) {
        takt_screen_forget(screen);
        return;
    }
    if (sink->text.size > 0)
        return;
    takt_terminal_size(screen->fd, &screen->columns, &screen->rows);
    takt_report_picture_make(&screen->fresh, figures, policy, screen->columns, screen->rows);
    size_t size =
        takt_report_picture_draw(&screen->drawn, &screen->fresh, screen->columns, screen->text);
    if (takt_sink_put(sink, screen->text, size))
        screen->drawn = screen->fresh;
}

void takt_screen_wipe(takt_screen *screen, takt_sink *sink)
{
    if (screen->drawn.count == 0 || !takt_terminal_is_ours(screen->fd))
        return;
    takt_terminal_size(screen->fd, &screen->columns, &screen->rows);
    size_t size = takt_report_picture_wipe(&screen->drawn, screen->columns, screen->text);
    if (takt_sink_put(sink, screen->text, size))
        screen->drawn.count = 0;
}

void takt_screen_forget(takt_screen *screen)
{
    screen->drawn.count = 0;
}
