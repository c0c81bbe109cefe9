/*
 * append.h: a file that only grows, by one write for all that has come together.
 */
#ifndef TAKT_WORKERS_SOURCES_APPEND_H
#define TAKT_WORKERS_SOURCES_APPEND_H

#include "jobs/text/buffer.h"

typedef struct takt_append {
    int fd; /* -1: there is none, and nothing is kept */
    takt_buffer text;
} takt_append;

/* False: no memory. */
bool takt_append_put(takt_append *file, const char *text, size_t size);

/* Writes what has come: 0, or an errno; then it is still there. */
int takt_append_flush(takt_append *file);

void takt_append_close(takt_append *file);

#endif
