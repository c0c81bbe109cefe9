/*
 * sink.c: writes pieces of whole lines, none larger than a pipe accepts atomically.
 *
 * O_NONBLOCK belongs to the open file, which is shared with the parent process, so it is not set on
 * the inherited descriptor: pipes and terminals are opened again; if that is not allowed, poll() is
 * asked before each write.
 */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void takt_sink_open(takt_sink *sink, int fd)
{
    struct stat about;
    char path[64];

    *sink = (takt_sink){.fd = fd, .own_fd = -1};
    if (fstat(fd, &about) != 0) {
        sink->gone = true;
        return;
    }
    sink->is_socket = S_ISSOCK(about.st_mode);
    sink->is_file = S_ISREG(about.st_mode);
    if (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode)) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        sink->own_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
}

bool takt_sink_put(takt_sink *sink, const char *text, size_t size)
{
    size_t before = sink->text.size;

    if (sink->gone)
        return false;
    if (before + size <= TAKT_SINK_SIZE_MAX && takt_buffer_put(&sink->text, text, size))
        return true;
    takt_buffer_cut(&sink->text, before);
    sink->lost++;
    return false;
}

/* The end of the last whole line that fits in a piece; a longer line is cut to the piece. */
static size_t piece_of(const takt_sink *sink)
{
    if (sink->text.size <= PIPE_BUF)
        return sink->text.size;
    const char *end = memrchr(sink->text.at, '\n', PIPE_BUF);
    return end ? (size_t)(end - sink->text.at) + 1 : PIPE_BUF;
}

static ssize_t write_piece(const takt_sink *sink, size_t size)
{
    struct pollfd output = {.fd = sink->fd, .events = POLLOUT};

    if (sink->is_socket)
        return send(sink->fd, sink->text.at, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sink->own_fd >= 0)
        return write(sink->own_fd, sink->text.at, size);
    if (!sink->is_file && poll(&output, 1, 0) <= 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(sink->fd, sink->text.at, size);
}

bool takt_sink_flush(takt_sink *sink)
{
    while (sink->text.size > 0) {
        ssize_t count = write_piece(sink, piece_of(sink));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return true;
        if (count < 0) { /* the reader has gone; or a full disk, which may get room again */
            sink->gone = errno != ENOSPC && errno != EDQUOT;
            sink->lost += !sink->gone;
            count = (ssize_t)sink->text.size;
        }
        takt_buffer_drop(&sink->text, (size_t)count);
    }
    return false;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void takt_sink_drain(takt_sink *sink, int within_ms)
{
    int64_t end_ms = now_ms() + within_ms, left_ms;

    while (takt_sink_flush(sink) && (left_ms = end_ms - now_ms()) > 0) {
        struct pollfd output = {.fd = sink->fd, .events = POLLOUT};
        poll(&output, 1, (int)left_ms);
    }
}

void takt_sink_close(takt_sink *sink)
{
    if (sink->own_fd >= 0)
        close(sink->own_fd);
    sink->own_fd = -1;
    takt_buffer_free(&sink->text);
    sink->gone = true;
}
