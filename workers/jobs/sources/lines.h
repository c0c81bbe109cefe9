/*
 * lines.h: the lines of a file, a pipe or a terminal, read on a loop without ever blocking it.
 */
#ifndef TAKT_WORKERS_SOURCES_LINES_H
#define TAKT_WORKERS_SOURCES_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <takt/error.h>
#include <uv.h>

#include "source.h"

#define LINES_CHUNK_SIZE ((size_t)64 * 1024)

typedef struct line {
    const char *text; /* without its newline; NULL: it is too long */
    size_t size;
    uint64_t number; /* from 1 */
    uint64_t offset; /* of its first byte; in a regular file alone */
} line;

typedef enum lines_state {
    LINES_LINE,
    LINES_LATER, /* ready() will tell */
    LINES_END
} lines_state;

typedef struct lines {
    uv_loop_t *loop;
    int fd;
    bool is_file, is_regular; /* read by the thread pool; can be read again */
    bool opened, reading, ended, too_long, closing;
    int error; /* why it ended before its end; 0 */
    union {
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tty_t tty;
        uv_tcp_t tcp;
        uv_fs_t file;
    } from;
    char *buffer;
    size_t begin, searched, end;
    uint64_t number, newlines;
    uint64_t offset;         /* of buffer[begin] */
    int64_t size, size_read; /* of a regular file; -1: unknown */
    void (*ready)(void *data);
    void (*closed)(void *data);
    void *data;
} lines;

/* `path` NULL or "-": standard input.  0, or TAKT_E_SYSTEM and why. */
int lines_open(lines *lines, uv_loop_t *loop, const char *path, void (*ready)(void *data),
               void *data, takt_error *error);

/* Cuts off the next line that is not empty; valid until the next call. */
lines_state lines_next(lines *lines, line *line);

/* How many lines there are, as far as is known; 0: no idea. */
uint64_t lines_total(const lines *lines, bool *exact);

/* Afterwards closed() comes, and the memory may go. */
void lines_close(lines *lines, void (*closed)(void *data));

#endif
