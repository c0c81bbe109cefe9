/*
 * The thread pool reads files, since a disk may be slow; pipes and terminals are streams. A read
 * starts only when the buffer has no whole line, which bounds the memory.
 */
#include "kit/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_SIZE ((size_t)64 * 1024)
#define MARK       "\xef\xbb\xbf" /* U+FEFF, the byte order mark, in UTF-8 */
#define MARK_SIZE  (sizeof(MARK) - 1)

static void free_all(takt_lines *lines)
{
    if (!lines->opened && lines->fd > STDERR_FILENO)
        close(lines->fd);
    free(lines->buffer);
    lines->buffer = NULL;
    if (lines->closed)
        lines->closed(lines->data);
}

static void take_bytes(takt_lines *lines, ssize_t count)
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
    takt_lines *lines = request->data;
    ssize_t count = request->result;

    uv_fs_req_cleanup(request);
    take_bytes(lines, count);
}

static void give_space(uv_handle_t *handle, size_t suggested, uv_buf_t *space)
{
    takt_lines *lines = handle->data;

    (void)suggested;
    *space = uv_buf_init(lines->buffer + lines->end, CHUNK_SIZE);
}

static void on_stream_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *space)
{
    (void)space;
    if (count == 0) /* no bytes this time */
        return;
    uv_read_stop(stream);
    take_bytes(stream->data, count);
}

static void drop(takt_lines *lines, size_t count)
{
    lines->begin += count;
    lines->offset += count;
}

/* The buffer has room for a chunk, since it holds at most one unfinished line. */
static void read_more(takt_lines *lines)
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
        uv_buf_t space = uv_buf_init(lines->buffer + lines->end, CHUNK_SIZE);
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

/* A byte order mark at the start belongs to no line. */
static void skip_mark(takt_lines *lines)
{
    if (lines->offset > 0 || lines->end - lines->begin < MARK_SIZE ||
        memcmp(lines->buffer + lines->begin, MARK, MARK_SIZE) != 0)
        return;
    drop(lines, MARK_SIZE);
    if (lines->searched < lines->begin)
        lines->searched = lines->begin;
}

/* Takes the next line, without its newline. False: no whole line yet. */
static bool cut(takt_lines *lines, takt_text_line *line)
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
    line->text = lines->too_long || line->size > lines->size_max ? NULL : start;
    lines->too_long = false;
    drop(lines, line->size + (newline != NULL));
    lines->searched = lines->begin;
    return true;
}

takt_lines_state takt_lines_next(takt_lines *lines, takt_text_line *line)
{
    for (;;) {
        skip_mark(lines);
        while (cut(lines, line)) {
            if (line->size > 0 || !line->text)
                return TAKT_LINES_LINE;
            lines->empty++;
        }
        if (lines->ended)
            return TAKT_LINES_END;
        if (lines->end - lines->begin > lines->size_max)
            lines->too_long = true;
        if (lines->too_long) {
            drop(lines, lines->end - lines->begin);
            lines->searched = lines->end;
        }
        read_more(lines);
        if (!lines->ended)
            return TAKT_LINES_LATER;
    }
}

uint64_t takt_lines_total(const takt_lines *lines, bool *exact)
{
    *exact = lines->ended || (lines->size >= 0 && lines->size_read >= lines->size);
    if (*exact)
        return lines->number > lines->newlines ? lines->number : lines->newlines;
    if (lines->size < 0 || lines->size_read == 0)
        return 0;
    return (uint64_t)((double)lines->newlines * (double)lines->size / (double)lines->size_read +
                      0.5);
}

bool takt_lines_has_more(const takt_lines *lines)
{
    bool all_read = lines->ended || (lines->size >= 0 && lines->size_read >= lines->size);

    return !all_read || lines->begin < lines->end || (lines->too_long && !lines->ended);
}

static int open_stream(takt_lines *lines)
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

static void note_size(takt_lines *lines, const struct stat *status)
{
    off_t at = lseek(lines->fd, 0, SEEK_CUR);

    lines->is_regular = true;
    lines->offset = at > 0 ? (uint64_t)at : 0;
    lines->size = at > 0 && at <= status->st_size ? status->st_size - at : status->st_size;
}

int takt_lines_open(takt_lines *lines, uv_loop_t *loop, const char *path, size_t size_max,
                    void (*ready)(void *data), void *data, takt_error *error)
{
    struct stat status;
    int failed;

    if (path && strcmp(path, "-") == 0)
        path = NULL;
    *lines =
        (takt_lines){.loop = loop, .size_max = size_max, .size = -1, .ready = ready, .data = data};
    if (path && (lines->fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        return refuse(path, strerror(errno), error);
    if (fstat(lines->fd, &status) != 0)
        failed = UV_EBADF;
    else if (S_ISDIR(status.st_mode))
        failed = UV_EISDIR;
    else
        failed = (lines->buffer = malloc(size_max + CHUNK_SIZE)) ? open_stream(lines) : UV_ENOMEM;
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

void takt_lines_close(takt_lines *lines, void (*closed)(void *data))
{
    lines->closing = true;
    lines->closed = closed;
    if (lines->opened)
        uv_close((uv_handle_t *)&lines->from.stream, on_closed);
    else if (!lines->reading)
        free_all(lines);
}
