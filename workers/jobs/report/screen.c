/*
 * screen.c: see screen.h.
 */
#include "screen.h"

#include <signal.h>

#include "kit/terminal.h"

static volatile sig_atomic_t continued;

/* Not an event of the loop: its timers may draw before it hears of signals. */
static void on_continued(int number)
{
    (void)number;
    continued = 1;
}

void takt_screen_open(takt_screen *screen, int fd)
{
    struct sigaction action = {.sa_handler = on_continued, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(SIGCONT, &action, NULL);
    screen->fd = fd;
    screen->drawn.count = 0;
}

/* Whether the picture that was drawn, if any, is still ours to change. */
static bool may_change(takt_screen *screen)
{
    bool ours = takt_terminal_is_ours(screen->fd);

    if (continued || !ours)
        screen->drawn.count = 0;
    continued = 0;
    return ours;
}

void takt_screen_draw(takt_screen *screen, takt_sink *sink, const takt_figures *figures,
                      const takt_policy *policy)
{
    if (!may_change(screen) || sink->text.size > 0)
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
    if (screen->drawn.count == 0 || !may_change(screen) || screen->drawn.count == 0)
        return; /* nothing was drawn, or it is no longer ours */
    takt_terminal_size(screen->fd, &screen->columns, &screen->rows);
    size_t size = takt_report_picture_wipe(&screen->drawn, screen->columns, screen->text);
    if (takt_sink_put(sink, screen->text, size))
        screen->drawn.count = 0;
}
