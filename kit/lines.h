/*
 * The lines of a file, a pipe or a terminal, read on a loop without ever blocking it.  No more than
 * the longest line and one read is held in memory.  What a line means is left to the caller.
 */
#ifndef TAKT_KIT_LINES_H
#define TAKT_KIT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <takt/error.h>
#include <uv.h>

typedef struct takt_text_line {
    const char *text; /* without its newline; NULL: it is too long */
    size_t size;
    uint64_t number; /* from 1; empty lines count */
    uint64_t offset; /* of `text` in a regular file */
} takt_text_line;

typedef enum takt_lines_state {
    TAKT_LINES_LINE,
    TAKT_LINES_LATER, /* no whole line yet: ready() will be called */
    TAKT_LINES_END
} takt_lines_state;

typedef struct takt_lines {
    /* read-only */
    int fd;
    int error;       /* of libuv, that ended the input early; 0: none */
    bool is_file;    /* read by the thread pool; it has an end */
    bool is_regular; /* can be read again */
    bool ended;      /* everything was read, though maybe not yet returned */
    bool reading;
    uint64_t number; /* of the last line that was returned or skipped */
    uint64_t empty;  /* lines that were skipped */

    /* private */
    uv_loop_t *loop;
    void (*ready)(void *data);
    void (*closed)(void *data);
    void *data;
    bool opened;   /* `stream` is to be closed */
    bool too_long; /* up to the next newline comes the rest of a line that is too long */
    bool closing;
    union {
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tty_t tty;
        uv_tcp_t tcp;
        uv_fs_t file;
    } from;
    size_t size_max; /* of a line */
    char *buffer;
    size_t begin, searched, end; /* in the buffer: not yet returned; without a newline up to here */
    uint64_t offset;             /* of buffer[begin] */
    uint64_t newlines;           /* read so far */
    int64_t size, size_read;     /* of a regular file in bytes; size -1: unknown */
} takt_lines;

/* `path` NULL or "-": standard input.  A line has at most `size_max` bytes.  ready() is called from
 * the loop.  0, or TAKT_E_SYSTEM and a message; then there is nothing to close. */
int takt_lines_open(takt_lines *lines, uv_loop_t *loop, const char *path, size_t size_max,
                    void (*ready)(void *data), void *data, takt_error *error);

/* Cuts off the next line that is not empty; valid until the next call.  A byte order mark at the
 * beginning of the input is skipped. */
takt_lines_state takt_lines_next(takt_lines *lines, takt_text_line *line);

/* How many lines there are, empty ones included, as far as is known; 0: no idea. */
uint64_t takt_lines_total(const takt_lines *lines, bool *exact);

/* Whether lines may be left that were not returned.  Also after takt_lines_close. */
bool takt_lines_has_more(const takt_lines *lines);

/* Frees what is held.  closed() (NULL: none) is called when the memory may be used again: at once,
 * or from the loop. */
void takt_lines_close(takt_lines *lines, void (*closed)(void *data));

#endif
