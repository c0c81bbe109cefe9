/*
 * lines.c: files are read by the thread pool, since a disk may be slow, pipes and terminals as
 * streams.  A read is begun only when no whole line is left, which is what bounds the memory.
 */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE (TAKT_JOB_SOURCE_TEXT_MAX + LINES_CHUNK_SIZE)

static void free_all(lines *lines)
{
    if (!lines->opened && lines->fd > STDERR_FILENO)
        close(lines->fd);
    free(lines->buffer);
    lines->buffer = NULL;
    lines->closed(lines->data);
}

static void take_bytes(lines *lines, ssize_t count)
{
    lines->reading = false;
    if (lines->closing) {
        if (lines->is_file)
            free_all(lines);
        return;
    }
    if (count > 0) {
        for (char *at = lines->buffer + lines->end, *end = at + count;
             (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
            lines->newlines++;
        lines->end += (size_t)count;
        lines->size_read += count;
    } else {
        lines->ended = true;
        lines->error = count == 0 || count == UV_EOF ? 0 : (int)count;
    }
    lines->ready(lines->data);
}

static void on_file_read(uv_fs_t *request)
{
    lines *lines = request->data;
    ssize_t count = request->result;

    uv_fs_req_cleanup(request);
    take_bytes(lines, count);
}

static void give_space(uv_handle_t *handle, size_t suggested, uv_buf_t *space)
{
    lines *lines = handle->data;

    (void)suggested;
    *space = uv_buf_init(lines->buffer + lines->end, LINES_CHUNK_SIZE);
}

static void on_stream_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *space)
{
    (void)space;
    if (count == 0) /* nothing after all */
        return;
    uv_read_stop(stream);
    take_bytes(stream->data, count);
}

static void drop(lines *lines, size_t count)
{
    lines->begin += count;
    lines->offset += count;
}

/* There is room for a chunk: what is left of the buffer is at most one unfinished line. */
static void read_more(lines *lines)
{
    int failed;

    if (lines->reading || lines->ended || lines->closing)
        return;
    memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
    lines->searched -= lines->begin;
    lines->end -= lines->begin;
    lines->begin = 0;
    lines->reading = true;
    if (lines->is_file) {
        uv_buf_t space = uv_buf_init(lines->buffer + lines->end, LINES_CHUNK_SIZE);
        lines->from.file.data = lines;
        failed = uv_fs_read(lines->loop, &lines->from.file, lines->fd, &space, 1, -1, on_file_read);
    } else {
        failed = uv_read_start(&lines->from.stream, give_space, on_stream_read);
    }
    if (failed) {
        lines->reading = false;
        lines->ended = true;
        lines->error = failed;
    }
}

/* Cuts off the next line, without its newline.  False: there is no whole one. */
static bool cut(lines *lines, line *line)
{
    char *start = lines->buffer + lines->begin;
    char *newline = memchr(lines->buffer + lines->searched, '\n', lines->end - lines->searched);

    if (!newline && !(lines->ended && (lines->begin < lines->end || lines->too_long))) {
        lines->searched = lines->end;
        return false;
    }
    line->size = (size_t)((newline ? newline : lines->buffer + lines->end) - start);
    line->offset = lines->offset;
    line->number = ++lines->number;
    line->text = lines->too_long || line->size > TAKT_JOB_SOURCE_TEXT_MAX ? NULL : start;
    lines->too_long = false;
    drop(lines, line->size + (newline != NULL));
    lines->searched = lines->begin;
    return true;
}

lines_state lines_next(lines *lines, line *line)
{
    for (;;) {
        while (cut(lines, line))
            if (line->size > 0 || !line->text)
                return LINES_LINE;
        if (lines->ended)
            return LINES_END;
        if (lines->end - lines->begin > TAKT_JOB_SOURCE_TEXT_MAX)
            lines->too_long = true;
        if (lines->too_long) {
            drop(lines, lines->end - lines->begin);
            lines->searched = lines->end;
        }
        read_more(lines);
        if (!lines->ended)
            return LINES_LATER;
    }
}

uint64_t lines_total(const lines *lines, bool *exact)
{
    *exact = lines->ended || (lines->size >= 0 && lines->size_read >= lines->size);
    if (*exact)
        return lines->number > lines->newlines ? lines->number : lines->newlines;
    if (lines->size < 0 || lines->size_read == 0)
        return 0;
    return (uint64_t)((double)lines->newlines * (double)lines->size / (double)lines->size_read);
}

static int open_stream(lines *lines)
{
    int failed;

    switch (uv_guess_handle(lines->fd)) {
    case UV_TTY:
        failed = uv_tty_init(lines->loop, &lines->from.tty, lines->fd, 1);
        break;
    case UV_NAMED_PIPE:
        failed = uv_pipe_init(lines->loop, &lines->from.pipe, 0);
        if (!failed && (failed = uv_pipe_open(&lines->from.pipe, lines->fd)) != 0)
            uv_close((uv_handle_t *)&lines->from.stream, NULL);
        break;
    case UV_TCP:
        failed = uv_tcp_init(lines->loop, &lines->from.tcp);
        if (!failed && (failed = uv_tcp_open(&lines->from.tcp, lines->fd)) != 0)
            uv_close((uv_handle_t *)&lines->from.stream, NULL);
        break;
    case UV_FILE:
        lines->is_file = true;
        return 0;
    default:
        return UV_EINVAL;
    }
    lines->opened = !failed;
    lines->from.stream.data = lines;
    return failed;
}

static int refuse(const char *path, const char *why, takt_error *error)
{
    error->code = TAKT_E_SYSTEM;
    snprintf(error->text, sizeof(error->text), "cannot read %s: %s", path ? path : "standard input",
             why);
    return error->code;
}

static void note_size(lines *lines, const struct stat *status)
{
    off_t at = lseek(lines->fd, 0, SEEK_CUR);

    lines->is_regular = true;
    lines->offset = at > 0 ? (uint64_t)at : 0;
    lines->size = at > 0 && at <= status->st_size ? status->st_size - at : status->st_size;
}

int lines_open(lines *lines, uv_loop_t *loop, const char *path, void (*ready)(void *data),
               void *data, takt_error *error)
{
    struct stat status;
    int failed;

    if (path && strcmp(path, "-") == 0)
        path = NULL;
    *lines = (struct lines){.loop = loop, .size = -1, .ready = ready, .data = data};
    if (path && (lines->fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        return refuse(path, strerror(errno), error);
    if (fstat(lines->fd, &status) != 0)
        failed = UV_EBADF;
    else if (S_ISDIR(status.st_mode))
        failed = UV_EISDIR;
    else
        failed = (lines->buffer = malloc(BUFFER_SIZE)) ? open_stream(lines) : UV_ENOMEM;
    if (!failed) {
        if (S_ISREG(status.st_mode))
            note_size(lines, &status);
        return 0;
    }
    refuse(path, uv_strerror(failed), error);
    free(lines->buffer);
    if (path)
        close(lines->fd);
    return error->code;
}

static void on_closed(uv_handle_t *handle)
{
    free_all(handle->data);
}

void lines_close(lines *lines, void (*closed)(void *data))
{
    lines->closing = true;
    lines->closed = closed;
    if (lines->opened)
        uv_close((uv_handle_t *)&lines->from.stream, on_closed);
    else if (!lines->reading)
        free_all(lines);
}
