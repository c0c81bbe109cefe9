/*
 * Readers that are slow, that close the pipe, and that read again after a while.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "jobs/report/sink.h"

static takt_sink to;
static int ends[2];

static void open_pipe(void)
{
    cr_assert_eq(pipe(ends), 0);
    takt_sink_open(&to, ends[1]);
}

static void put(const char *text)
{
    takt_sink_put(&to, text, strlen(text));
}

static void expect(const char *text)
{
    char read_text[8192];
    ssize_t size = read(ends[0], read_text, sizeof(read_text));

    cr_assert_eq((size_t)size, strlen(text));
    cr_assert_eq(memcmp(read_text, text, (size_t)size), 0);
}

Test(sink, writes)
{
    open_pipe();
    put("one\n");
    put("two\n");
    cr_assert(!takt_sink_flush(&to));
    expect("one\ntwo\n");
    cr_assert_eq(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0, "it is not ours alone");
    takt_sink_close(&to);
}

/* More than a pipe and the sink hold; then all that was kept comes, in order and in whole lines. */
static void fill_and_empty(void)
{
    static char got[4 * 1024 * 1024];
    char line[64];
    size_t used = 0;
    unsigned sent = 0;

    while (to.lost < 10) {
        snprintf(line, sizeof(line), "line %u of a log that nobody reads yet\n", sent++);
        put(line);
        takt_sink_flush(&to);
    }
    cr_assert_leq(to.text.size, TAKT_SINK_SIZE_MAX);
    cr_assert(takt_sink_flush(&to), "it does not wait");
    while (to.text.size > 0) {
        ssize_t size = read(ends[0], got + used, sizeof(got) - used - 1);
        cr_assert_gt(size, 0);
        used += (size_t)size;
        takt_sink_flush(&to);
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    for (ssize_t size; (size = read(ends[0], got + used, sizeof(got) - used - 1)) > 0;)
        used += (size_t)size;
    got[used] = '\0';
    unsigned count = 0, number;
    for (char *at = strtok(got, "\n"); at; at = strtok(NULL, "\n"), count++)
        cr_assert(sscanf(at, "line %u of a log that nobody reads yet", &number) == 1 &&
                      number == count,
                  "%s", at);
    cr_assert_eq(count + to.lost, sent);
}

Test(sink, a_full_pipe_does_not_block)
{
    open_pipe();
    cr_assert_geq(to.own_fd, 0);
    fill_and_empty();
    takt_sink_close(&to);
}

/* If it must not be opened again. */
Test(sink, a_full_pipe_that_is_not_ours_does_not_block)
{
    open_pipe();
    close(to.own_fd);
    to.own_fd = -1;
    fill_and_empty();
    takt_sink_close(&to);
}

Test(sink, a_full_socket_does_not_block)
{
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    takt_sink_open(&to, ends[1]);
    fill_and_empty();
    takt_sink_close(&to);
}

Test(sink, a_reader_who_went_away_is_forgotten)
{
    signal(SIGPIPE, SIG_IGN);
    open_pipe();
    close(ends[0]);
    put("one\n");
    cr_assert(!takt_sink_flush(&to));
    cr_assert(to.gone);
    put("two\n");
    cr_assert(!takt_sink_flush(&to));
    cr_assert_eq(to.text.size, 0);
    takt_sink_close(&to);
}

Test(sink, nothing_there_at_all)
{
    takt_sink_open(&to, 999);
    put("one\n");
    cr_assert(!takt_sink_flush(&to));
    takt_sink_drain(&to, 1000);
    takt_sink_close(&to);
}

/* What another process appends to the same file meanwhile stays. */
Test(sink, a_file_is_shared)
{
    char path[] = "/tmp/takt-sink-XXXXXX", text[32] = "";
    int fd = mkstemp(path);

    takt_sink_open(&to, fd);
    put("one\n");
    takt_sink_flush(&to);
    cr_assert_eq(write(fd, "two\n", 4), 4);
    put("three\n");
    takt_sink_drain(&to, 1000);
    cr_assert_eq(pread(fd, text, sizeof(text) - 1, 0), 14);
    cr_assert_str_eq(text, "one\ntwo\nthree\n");
    unlink(path);
    takt_sink_close(&to);
}
