/*
 * sink.h: standard error for a program that must not wait for whoever reads it.  What cannot be
 * written at once is kept, up to a bound, and lines beyond that are counted and lost.  A reader who
 * went away is forgotten.
 */
#ifndef TAKT_WORKERS_REPORT_SINK_H
#define TAKT_WORKERS_REPORT_SINK_H

#include <stdint.h>

#include "jobs/text/buffer.h"

#define TAKT_SINK_SIZE_MAX ((size_t)256 * 1024)

typedef struct takt_sink {
    int fd;
    int own_fd;     /* opened anew by us, so that it alone does not block; -1: there is none */
    bool is_socket; /* send() does not block there */
    bool is_file;   /* nor does write(), for long */
    bool gone;
    takt_buffer text;
    uint64_t lost; /* lines */
} takt_sink;

void takt_sink_open(takt_sink *sink, int fd);

/* Takes a piece as a whole, or not at all: then a line more is lost, and it is false. */
bool takt_sink_put(takt_sink *sink, const char *text, size_t size);

/* Writes what can be written now.  Whether something is left. */
bool takt_sink_flush(takt_sink *sink);

/* The same for as long as it takes, but no longer than that. */
void takt_sink_drain(takt_sink *sink, int within_ms);

void takt_sink_close(takt_sink *sink);

#endif
