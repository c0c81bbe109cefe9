/*
 * The whole terminal: raw keys in, frames out, on its alternate screen, which is left again in all
 * cases.
 *
 * libuv's tty handles the modes, the size and non-blocking writes; the rest are a few escape
 * sequences that all present terminals understand. ncurses would add terminal descriptions and
 * writes that block the loop when a terminal is slow.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/terminal.h"
#include "top.h"

#define ENTER       "\033[?1049h\033[?25l\033[?7l\033[2J"
#define LEAVE       "\033[0m\033[?7h\033[?25h\033[?1049l"
#define ESCAPE_MS   50   /* for the rest of an escape sequence */
#define LAG_MS      3000 /* how long a slow terminal may take to accept its restoration */
#define COLUMNS     80   /* of a terminal with unknown size */
#define LINES       24
#define COLUMNS_MIN 10
#define COLUMNS_MAX 1000
#define LINES_MAX   1000

static takt_cli_screen *the_screen; /* restored after a crash */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

bool takt_cli_screen_is_there(void)
{
    return isatty(STDIN_FILENO) && takt_terminal_can_draw(STDOUT_FILENO);
}

/* Writes the last bytes to a terminal that may lag some frames behind. Waits for a limited time,
 * since the terminal may be stuck. The descriptor belongs to libuv and does not block. */
static void write_now(const takt_cli_screen *screen, const char *text, size_t size)
{
    uint64_t until_ns = uv_hrtime() + LAG_MS * UINT64_C(1000000);
    struct pollfd out = {.fd = screen->fd, .events = POLLOUT};

    for (uint64_t now_ns; size > 0 && (now_ns = uv_hrtime()) < until_ns;) {
        poll(&out, 1, (int)((until_ns - now_ns) / 1000000) + 1);
        ssize_t count = write(screen->fd, text, size);
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            return; /* the terminal is closed */
        text += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
}

static void leave_now(void)
{
    if (the_screen && the_screen->shown) {
        write_now(the_screen, LEAVE, sizeof(LEAVE) - 1);
        uv_tty_reset_mode();
    }
}

static void on_crash(int number)
{
    leave_now();
    raise(number); /* its handler was removed */
}

static void catch_crashes(void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};

    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
        sigaction(crashes[i], &action, NULL);
}

/* ---- in and out ------------------------------------------------------------------------------ */

static void show(takt_cli_screen *screen)
{
    if (screen->shown || uv_tty_set_mode(&screen->in, UV_TTY_MODE_RAW) != 0)
        return;
    screen->shown = true;
    write_now(screen, ENTER, sizeof(ENTER) - 1);
}

static void hide(takt_cli_screen *screen)
{
    if (!screen->shown)
        return;
    write_now(screen, LEAVE, sizeof(LEAVE) - 1);
    uv_tty_set_mode(&screen->in, UV_TTY_MODE_NORMAL);
    screen->shown = false;
}

static void on_written(uv_write_t *write, int status)
{
    takt_cli_screen *screen = write->data;

    free(screen->frame);
    screen->frame = NULL;
    if (!screen->open)
        return;
    if (status < 0)
        screen->gone(screen->data);
    else if (screen->stale)
        screen->changed(screen->data);
}

bool takt_cli_screen_write(takt_cli_screen *screen, char *frame, size_t size)
{
    uv_buf_t buffer = uv_buf_init(frame, (unsigned)size);

    if (screen->frame || !screen->shown || !screen->open) {
        free(frame);
        return false;
    }
    screen->frame = frame;
    screen->stale = false;
    screen->write.data = screen;
    int failed = uv_write(&screen->write, (uv_stream_t *)&screen->out, &buffer, 1, on_written);
    if (failed) {
        free(screen->frame);
        screen->frame = NULL;
        screen->gone(screen->data);
    }
    return !failed;
}

static void on_escape_timeout(uv_timer_t *timer)
{
    takt_cli_screen *screen = timer->data;

    takt_cli_keys_pause(&screen->keys, screen->pressed, screen->data);
}

static void give_room(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    static char bytes[256];

    (void)handle;
    (void)size;
    *buffer = uv_buf_init(bytes, sizeof(bytes));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    takt_cli_screen *screen = stream->data;

    if (count < 0) {
        screen->gone(screen->data);
        return;
    }
    uv_timer_stop(&screen->escape);
    for (ssize_t i = 0; i < count && screen->open; i++)
        takt_cli_keys_feed(&screen->keys, buffer->base[i], screen->pressed, screen->data);
    if (screen->open && screen->keys.state != KEYS_PLAIN)
        uv_timer_start(&screen->escape, on_escape_timeout, ESCAPE_MS, 0);
}

static int within(int value, int min, int max)
{
    return value < min ? min : value > max ? max : value;
}

static void measure(takt_cli_screen *screen)
{
    int columns = 0, lines = 0;

    if (uv_tty_get_winsize(&screen->out, &columns, &lines) != 0 || columns <= 0 || lines <= 0) {
        columns = COLUMNS;
        lines = LINES;
    }
    screen->columns = within(columns, COLUMNS_MIN, COLUMNS_MAX);
    screen->lines = within(lines, 1, LINES_MAX);
}

static void on_resized(uv_signal_t *signal, int number)
{
    takt_cli_screen *screen = signal->data;

    (void)number;
    measure(screen);
    screen->changed(screen->data);
}

/* Continued after a stop: a shell has used the terminal meanwhile. */
static void on_continued(uv_signal_t *signal, int number)
{
    takt_cli_screen *screen = signal->data;

    (void)number;
    if (screen->shown)
        uv_tty_set_mode(&screen->in, UV_TTY_MODE_NORMAL);
    screen->shown = false;
    show(screen);
    measure(screen);
    screen->changed(screen->data);
}

static void on_stopped(uv_signal_t *signal, int number)
{
    (void)number;
    takt_cli_screen_suspend(signal->data);
}

/* Returns when the process is continued. */
void takt_cli_screen_suspend(takt_cli_screen *screen)
{
    hide(screen);
    uv_signal_stop(&screen->stopped);
    kill(0, SIGTSTP);
    uv_signal_start(&screen->stopped, on_stopped, SIGTSTP);
    show(screen);
    measure(screen);
    screen->changed(screen->data);
}

/* ---- open and closed ------------------------------------------------------------------------- */

static void listen_to(uv_loop_t *loop, uv_signal_t *signal, takt_cli_screen *screen,
                      uv_signal_cb callback, int number)
{
    uv_signal_init(loop, signal);
    signal->data = screen;
    uv_signal_start(signal, callback, number);
}

int takt_cli_screen_open(takt_cli_screen *screen, uv_loop_t *loop)
{
    static bool at_exit;
    int failed = uv_tty_init(loop, &screen->in, STDIN_FILENO, 1);

    if (failed)
        return failed;
    failed = uv_tty_init(loop, &screen->out, STDOUT_FILENO, 0);
    if (failed) {
        uv_close((uv_handle_t *)&screen->in, NULL);
        return failed;
    }
    uv_fileno((uv_handle_t *)&screen->out, &screen->fd);
    screen->in.data = screen->escape.data = screen;
    uv_timer_init(loop, &screen->escape);
    listen_to(loop, &screen->resized, screen, on_resized, SIGWINCH);
    listen_to(loop, &screen->stopped, screen, on_stopped, SIGTSTP);
    listen_to(loop, &screen->continued, screen, on_continued, SIGCONT);
    screen->open = true;
    the_screen = screen;
    catch_crashes(on_crash);
    if (!at_exit)
        atexit(leave_now);
    at_exit = true;
    measure(screen);
    show(screen);
    failed = screen->shown ? uv_read_start((uv_stream_t *)&screen->in, give_room, on_read) : UV_EIO;
    if (failed)
        takt_cli_screen_close(screen);
    return failed;
}

void takt_cli_screen_close(takt_cli_screen *screen)
{
    if (!screen->open)
        return;
    hide(screen);
    screen->open = false;
    the_screen = NULL;
    catch_crashes(SIG_DFL);
    uv_close((uv_handle_t *)&screen->in, NULL);
    uv_close((uv_handle_t *)&screen->out, NULL);
    uv_close((uv_handle_t *)&screen->escape, NULL);
    uv_close((uv_handle_t *)&screen->resized, NULL);
    uv_close((uv_handle_t *)&screen->stopped, NULL);
    uv_close((uv_handle_t *)&screen->continued, NULL);
}
