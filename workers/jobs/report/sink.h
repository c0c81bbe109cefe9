/*
 * sink.h: standard error for a program that must not wait for whoever reads it.  What cannot be
 * written at once is kept, up to a bound, and lines beyond that are counted and lost.  A reader who
 * went away is forgotten.
 */
#ifndef TAKT_WORKERS_REPORT_SINK_H
#define TAKT_WORKERS_REPORT_SINK_H

#include <stdint.h>

#include "jobs/text/buffer.h"

#define SINK_SIZE_MAX ((size_t)256 * 1024)

typedef struct sink {
    int fd;
    int own_fd;     /* opened anew by us, so that it alone does not block; -1: there is none */
    bool is_socket; /* send() does not block there */
    bool is_file;   /* nor does write(), for long */
    bool gone;
    text_buffer text;
    uint64_t lost; /* lines */
} sink;

void sink_open(sink *sink, int fd);

/* Takes a piece as a whole, or not at all: then a line more is lost, and it is false. */
bool sink_put(sink *sink, const char *text, size_t size);

/* Writes what can be written now.  Whether something is left. */
bool sink_flush(sink *sink);

/* The same for as long as it takes, but no longer than that. */
void sink_drain(sink *sink, int within_ms);

void sink_close(sink *sink);

#endif
