/*
 * Lines from a file or a pipe, as they come.  Never more than a line's bound and one read is held
 * in memory, and the loop is never blocked.
 */
#ifndef TAKT_CLI_MAP_INPUT_H
#define TAKT_CLI_MAP_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

/* The longest word that Linux passes to a command is 128 KiB with its NUL. */
#define TAKT_CLI_LINE_MAX (128 * 1024 - 1)

typedef enum takt_cli_line_fault { LINE_GOOD, LINE_TOO_LONG, LINE_HAS_NUL } takt_cli_line_fault;

typedef struct takt_cli_line {
    const char
        *text; /* without the newline; NULL where it is too long; valid until the next call */
    size_t size;
    uint64_t number; /* 1 is the first; empty lines count */
    takt_cli_line_fault fault;
} takt_cli_line;

typedef enum takt_cli_input_state {
    INPUT_LINE,  /* there is one */
    INPUT_LATER, /* none yet: ready() will be called */
    INPUT_END    /* no more lines */
} takt_cli_input_state;

typedef struct takt_cli_input {
    /* read-only */
    int fd;
    int64_t size;      /* bytes of the whole input; -1: not known */
    int64_t size_read; /* bytes of it that were read */
    uint64_t newlines; /* in these bytes */
    uint64_t number;   /* of the last line that was given or passed over */
    uint64_t empty;    /* lines that were passed over */
    int error;         /* of the system, that ended the input early; 0: none */
    bool ended;        /* everything was read, though maybe not yet given */

    /* private */
    void (*ready)(void *data);
    void *data;
    uv_loop_t *loop;
    bool is_file;
    bool opened; /* `stream` is to be closed */
    bool reading;
    bool closing;
    bool too_long; /* what comes up to the next newline is the rest of a line that is too long */
    union {
        uv_fs_t file;
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tty_t tty;
        uv_tcp_t tcp;
    } from;
    char *buffer;
    size_t begin, searched,
        end; /* in the buffer: lines not given, and how far there is no newline in them */
} takt_cli_input;

/* Opens the file, or standard input where `path` is NULL.  0, or the exit status after a message.
 */
int takt_cli_input_open(takt_cli_input *input, uv_loop_t *loop, const char *path,
                        void (*ready)(void *data), void *data);

/* The next line that is not empty. */
takt_cli_input_state takt_cli_input_next(takt_cli_input *input, takt_cli_line *line);

/* Whether there may be lines that were not given. */
bool takt_cli_input_has_more(const takt_cli_input *input);

/* Stops reading; ready() is not called any more.  The memory must stay until the loop has ended. */
void takt_cli_input_close(takt_cli_input *input);

/* Frees the buffer, once the loop has ended. */
void takt_cli_input_free(takt_cli_input *input);

/* How many lines the whole input has; an estimate unless *exact.  0: not known. */
uint64_t takt_cli_input_total(const takt_cli_input *input, bool *exact);

#endif
