/*
 * Reads lines on a loop: files by the thread pool, since a disk may be slow, pipes and terminals as
 * streams.  A read is begun only when no whole line is left, which is what bounds the memory.  What
 * a line is for is left to map.c.
 */
#include "map_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "message.h"

#define CHUNK_SIZE  (64 * 1024)
#define BUFFER_SIZE (TAKT_CLI_LINE_MAX + CHUNK_SIZE)

static void take_bytes(takt_cli_input *input, ssize_t count)
{
    input->reading = false;
    if (input->closing)
        return;
    if (count > 0) {
        for (char *at = input->buffer + input->end, *end = at + count;
             (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
            input->newlines++;
        input->end += (size_t)count;
        input->size_read += count;
    } else {
        input->ended = true;
        input->error = count == 0 || count == UV_EOF ? 0 : (int)count;
    }
    input->ready(input->data);
}

static void on_file_read(uv_fs_t *request)
{
    takt_cli_input *input = request->data;
    ssize_t count = request->result;

    uv_fs_req_cleanup(request);
    take_bytes(input, count);
}

static void give_space(uv_handle_t *handle, size_t suggested, uv_buf_t *space)
{
    takt_cli_input *input = handle->data;

    (void)suggested;
    *space = uv_buf_init(input->buffer + input->end, CHUNK_SIZE);
}

static void on_stream_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *space)
{
    (void)space;
    if (count == 0) /* nothing after all */
        return;
    uv_read_stop(stream);
    take_bytes(stream->data, count);
}

/* There is room for a chunk: what is left of the buffer is at most one unfinished line. */
static void read_more(takt_cli_input *input)
{
    int failed;

    if (input->reading || input->ended || input->closing)
        return;
    memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
    input->searched -= input->begin;
    input->end -= input->begin;
    input->begin = 0;
    input->reading = true;
    if (input->is_file) {
        uv_buf_t space = uv_buf_init(input->buffer + input->end, CHUNK_SIZE);
        input->from.file.data = input;
        failed = uv_fs_read(input->loop, &input->from.file, input->fd, &space, 1, -1, on_file_read);
    } else {
        failed = uv_read_start(&input->from.stream, give_space, on_stream_read);
    }
    if (failed) {
        input->reading = false;
        input->ended = true;
        input->error = failed;
    }
}

/* Cuts off the next line, without its newline.  False: there is no whole one. */
static bool cut_line(takt_cli_input *input, takt_cli_line *line)
{
    char *start = input->buffer + input->begin;
    char *newline = memchr(input->buffer + input->searched, '\n', input->end - input->searched);

    if (!newline && !(input->ended && (input->begin < input->end || input->too_long))) {
        input->searched = input->end;
        return false;
    }
    char *end = newline ? newline : input->buffer + input->end;
    line->size = (size_t)(end - start);
    line->text = start;
    line->number = ++input->number;
    line->fault = LINE_GOOD;
    if (input->too_long || line->size > TAKT_CLI_LINE_MAX) {
        line->fault = LINE_TOO_LONG;
        line->text = NULL;
    } else if (memchr(start, '\0', line->size)) {
        line->fault = LINE_HAS_NUL;
    }
    input->too_long = false;
    input->begin += line->size + (newline != NULL);
    input->searched = input->begin;
    return true;
}

takt_cli_input_state takt_cli_input_next(takt_cli_input *input, takt_cli_line *line)
{
    for (;;) {
        while (cut_line(input, line)) {
            if (line->size > 0 || line->fault != LINE_GOOD)
                return INPUT_LINE;
            input->empty++;
        }
        if (input->ended)
            return INPUT_END;
        if (input->end - input->begin > TAKT_CLI_LINE_MAX)
            input->too_long = true;
        if (input->too_long)
            input->begin = input->searched = input->end;
        read_more(input);
        if (!input->ended)
            return INPUT_LATER;
    }
}

static int open_stream(takt_cli_input *input)
{
    int failed;

    switch (uv_guess_handle(input->fd)) {
    case UV_TTY:
        failed = uv_tty_init(input->loop, &input->from.tty, input->fd, 1);
        break;
    case UV_NAMED_PIPE:
        failed = uv_pipe_init(input->loop, &input->from.pipe, 0);
        if (!failed && (failed = uv_pipe_open(&input->from.pipe, input->fd)) != 0)
            uv_close((uv_handle_t *)&input->from.stream, NULL);
        break;
    case UV_TCP:
        failed = uv_tcp_init(input->loop, &input->from.tcp);
        if (!failed && (failed = uv_tcp_open(&input->from.tcp, input->fd)) != 0)
            uv_close((uv_handle_t *)&input->from.stream, NULL);
        break;
    case UV_FILE:
        input->is_file = true;
        return 0;
    default:
        return UV_EINVAL;
    }
    input->opened = !failed;
    input->from.stream.data = input;
    return failed;
}

int takt_cli_input_open(takt_cli_input *input, uv_loop_t *loop, const char *path,
                        void (*ready)(void *data), void *data)
{
    struct stat status;
    int failed;

    *input = (takt_cli_input){
        .fd = STDIN_FILENO, .size = -1, .loop = loop, .ready = ready, .data = data};
    if (path && (input->fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
        takt_cli_say("cannot read %s: %s", path, strerror(errno));
        return EX_NOINPUT;
    }
    if (fstat(input->fd, &status) == 0 && S_ISREG(status.st_mode)) {
        off_t at = lseek(input->fd, 0, SEEK_CUR);
        input->size = at > 0 && at <= status.st_size ? status.st_size - at : status.st_size;
    }
    failed = S_ISDIR(status.st_mode) ? UV_EISDIR : open_stream(input);
    if (failed) {
        takt_cli_say("cannot read %s: %s", path ? path : "standard input", uv_strerror(failed));
        return EX_NOINPUT;
    }
    input->buffer = malloc(BUFFER_SIZE);
    if (!input->buffer) {
        takt_cli_say("%s", strerror(ENOMEM));
        takt_cli_input_close(input);
        return EX_OSERR;
    }
    return 0;
}

bool takt_cli_input_has_more(const takt_cli_input *input)
{
    bool all_read = input->ended || (input->size >= 0 && input->size_read >= input->size);

    return !all_read || input->begin < input->end || (input->too_long && !input->ended);
}

void takt_cli_input_close(takt_cli_input *input)
{
    if (input->closing)
        return;
    input->closing = true;
    if (input->opened)
        uv_close((uv_handle_t *)&input->from.stream, NULL);
}

void takt_cli_input_free(takt_cli_input *input)
{
    if (!input->opened && input->fd > STDERR_FILENO)
        close(input->fd);
    free(input->buffer);
    input->buffer = NULL;
}

uint64_t takt_cli_input_total(const takt_cli_input *input, bool *exact)
{
    *exact = input->ended;
    if (input->ended)
        return input->number > input->newlines ? input->number : input->newlines;
    if (input->size < 0 || input->size_read == 0)
        return 0;
    *exact = input->size_read >= input->size;
    return (uint64_t)((double)input->newlines * (double)input->size / (double)input->size_read +
                      0.5);
}
