/*
 * sink.h: standard error for a program that must not wait for its reader. Bytes that cannot be
 * written at once are kept, up to a bound; lines beyond it are counted and lost. A closed reader is
 * dropped.
 */
#ifndef TAKT_WORKERS_REPORT_SINK_H
#define TAKT_WORKERS_REPORT_SINK_H

#include <stdint.h>

#include "jobs/text/buffer.h"

#define TAKT_SINK_SIZE_MAX ((size_t)256 * 1024)

typedef struct takt_sink {
    int fd;
    int own_fd;     /* opened again by us, so that only this descriptor is non-blocking; -1: none */
    bool is_socket; /* uses send(), which does not block there */
    bool is_file;   /* write() does not block for long */
    bool gone;
    takt_buffer text;
    uint64_t lost; /* lost lines */
} takt_sink;

void takt_sink_open(takt_sink *sink, int fd);

/* Takes a piece as a whole, or counts a lost line and returns false. */
bool takt_sink_put(takt_sink *sink, const char *text, size_t size);

/* Writes as much as possible now. Returns whether something is left. */
bool takt_sink_flush(takt_sink *sink);

/* Writes everything, for at most `within_ms`. */
void takt_sink_drain(takt_sink *sink, int within_ms);

void takt_sink_close(takt_sink *sink);

#endif
