/*
 * The properties of a terminal that a picture needs, on a terminal of the test and on a pipe.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "kit/terminal.h"

/* Both ends of a terminal; the first is its master. */
static void open_terminal(int ends[2])
{
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
    cr_assert(ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0);
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
    cr_assert(ends[1] >= 0);
}

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

Test(terminal, draws_unless_it_is_dumb)
{
    static const struct {
        const char *kind;
        bool can_draw;
    } rows[] = {{"xterm", true}, {"vt100", true}, {"dumb", false}, {"", false}, {NULL, false}};
    int terminal[2], ends[2];

    open_terminal(terminal);
    cr_assert_eq(pipe(ends), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].kind)
            setenv("TERM", rows[i].kind, 1);
        else
            unsetenv("TERM");
        cr_expect_eq(takt_terminal_can_draw(terminal[1]), rows[i].can_draw, "row %zu", i);
        cr_expect_not(takt_terminal_can_draw(ends[1]), "a pipe");
    }
    close_both(terminal);
    close_both(ends);
}

Test(terminal, has_80_columns_and_24_rows_unless_it_reports_others)
{
    struct winsize window = {.ws_col = 132, .ws_row = 43};
    unsigned columns, rows;
    int terminal[2], ends[2];

    open_terminal(terminal);
    takt_terminal_size(terminal[1], &columns, &rows);
    cr_expect(columns == 80 && rows == 24, "%u x %u", columns, rows);
    cr_assert_eq(ioctl(terminal[0], TIOCSWINSZ, &window), 0);
    takt_terminal_size(terminal[1], &columns, &rows);
    cr_expect(columns == 132 && rows == 43, "%u x %u", columns, rows);
    cr_assert_eq(pipe(ends), 0);
    takt_terminal_size(ends[1], &columns, &rows);
    cr_expect(columns == 80 && rows == 24, "%u x %u", columns, rows);
    close_both(terminal);
    close_both(ends);
}

/* A child that leads a session with the terminal; its own child is in the background. */
static int in_background(int fd)
{
    pid_t child = fork();

    if (child == 0) {
        setpgid(0, 0);
        _exit(takt_terminal_is_ours(fd) ? 1 : 0);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

Test(terminal, is_another_jobs_in_the_background)
{
    int terminal[2], status = -1;

    open_terminal(terminal);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        if (setsid() < 0 || ioctl(terminal[1], TIOCSCTTY, 0) != 0)
            _exit(3);
        if (!takt_terminal_is_ours(terminal[1]))
            _exit(4);
        _exit(in_background(terminal[1]));
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
    cr_expect(takt_terminal_is_ours(terminal[1]), "what has no job control is ours");
    close_both(terminal);
}
