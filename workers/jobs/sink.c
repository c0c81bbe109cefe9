/*
 * sink.c: pieces of whole lines, none longer than a pipe takes in one piece.
 *
 * O_NONBLOCK belongs to the open file, which is shared with whoever started us, so it is not set on
 * what we were given: pipes and terminals are opened anew, and where that is not allowed they are
 * asked by poll() first.
 */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void sink_open(sink *sink, int fd)
{
    struct stat about;
    char path[64];

    *sink = (struct sink){.fd = fd, .own_fd = -1};
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

static bool make_room(sink *sink, size_t size)
{
    size_t capacity = sink->capacity ? sink->capacity : 4096;

    if (sink->size + size > SINK_SIZE_MAX)
        return false;
    while (capacity < sink->size + size)
        capacity *= 2;
    if (capacity == sink->capacity)
        return true;
    char *text = realloc(sink->text, capacity);
    if (!text)
        return false;
    sink->text = text;
    sink->capacity = capacity;
    return true;
}

bool sink_put(sink *sink, const char *text, size_t size)
{
    if (sink->gone)
        return false;
    if (!make_room(sink, size)) {
        sink->lost++;
        return false;
    }
    memcpy(sink->text + sink->size, text, size);
    sink->size += size;
    return true;
}

/* The end of the last whole line within a piece; the piece, where one line is longer. */
static size_t piece_of(const sink *sink)
{
    if (sink->size <= PIPE_BUF)
        return sink->size;
    const char *end = memrchr(sink->text, '\n', PIPE_BUF);
    return end ? (size_t)(end - sink->text) + 1 : PIPE_BUF;
}

static ssize_t write_piece(const sink *sink, size_t size)
{
    struct pollfd ask = {.fd = sink->fd, .events = POLLOUT};

    if (sink->is_socket)
        return send(sink->fd, sink->text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sink->own_fd >= 0)
        return write(sink->own_fd, sink->text, size);
    if (!sink->is_file && poll(&ask, 1, 0) <= 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(sink->fd, sink->text, size);
}

bool sink_flush(sink *sink)
{
    while (sink->size > 0) {
        ssize_t count = write_piece(sink, piece_of(sink));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return true;
        if (count < 0) { /* nobody reads any more; or a full disk, which may have room again */
            sink->gone = errno != ENOSPC && errno != EDQUOT;
            sink->lost += !sink->gone;
            count = (ssize_t)sink->size;
        }
        sink->size -= (size_t)count;
        memmove(sink->text, sink->text + count, sink->size);
    }
    return false;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void sink_drain(sink *sink, int within_ms)
{
    int64_t end_ms = now_ms() + within_ms, left_ms;

    while (sink_flush(sink) && (left_ms = end_ms - now_ms()) > 0) {
        struct pollfd ask = {.fd = sink->fd, .events = POLLOUT};
        poll(&ask, 1, (int)left_ms);
    }
}

void sink_close(sink *sink)
{
    if (sink->own_fd >= 0)
        close(sink->own_fd);
    sink->own_fd = -1;
    free(sink->text);
    sink->text = NULL;
    sink->size = sink->capacity = 0;
    sink->gone = true;
}
