/*
 * Reads the lines of a file, a pipe or a terminal on a loop without blocking it. At most the
 * longest line and one read are held in memory. The caller interprets the lines.
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
    const char *text; /* without its newline; NULL: the line is too long */
    size_t size;
    uint64_t number; /* counts from 1, including empty lines */
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
    int error;       /* libuv's error that ended the input early; 0: none */
    bool is_file;    /* read by the thread pool */
    bool is_regular; /* can be read again */
    bool ended;      /* everything was read; some lines may not have been returned */
    bool reading;
    uint64_t number; /* of the last line returned or skipped */
    uint64_t empty;  /* lines skipped */

    /* private */
    uv_loop_t *loop;
    void (*ready)(void *data);
    void (*closed)(void *data);
    void *data;
    bool opened;   /* `stream` must be closed */
    bool too_long; /* the rest of a too long line follows, up to the next newline */
    bool closing;
    union {
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tty_t tty;
        uv_tcp_t tcp;
        uv_fs_t file;
    } from;
    size_t size_max; /* the longest line */
    char *buffer;
    /* in the buffer: first byte not returned; end of the part without newline */
    size_t begin, searched, end;
    uint64_t offset;         /* of buffer[begin] */
    uint64_t newlines;       /* read so far */
    int64_t size, size_read; /* bytes of a regular file; size -1: unknown */
} takt_lines;

/* `path` NULL or "-": standard input. A line has at most `size_max` bytes. The loop calls ready().
 * 0, or TAKT_E_SYSTEM and a message; then nothing needs closing. */
int takt_lines_open(takt_lines *lines, uv_loop_t *loop, const char *path, size_t size_max,
                    void (*ready)(void *data), void *data, takt_error *error);

/* Takes the next line that is not empty; valid until the next call. A byte order mark at the start
 * of the input is skipped. */
takt_lines_state takt_lines_next(takt_lines *lines, takt_text_line *line);

/* The number of lines as far as known, including empty ones; 0: unknown. */
uint64_t takt_lines_total(const takt_lines *lines, bool *exact);

/* Whether lines may remain that were not returned. May be called after takt_lines_close. */
bool takt_lines_has_more(const takt_lines *lines);

/* Frees the memory. closed() (NULL: none) is called, at once or from the loop, when the struct may
 * be used again. */
void takt_lines_close(takt_lines *lines, void (*closed)(void *data));

#endif
