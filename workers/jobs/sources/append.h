/*
 * append.h: a file that only grows, by one write for all that has come together.
 */
#ifndef TAKT_WORKERS_SOURCES_APPEND_H
#define TAKT_WORKERS_SOURCES_APPEND_H

#include "jobs/text/buffer.h"

typedef struct append {
    int fd; /* -1: there is none, and nothing is kept */
    text_buffer text;
} append;

/* False: no memory. */
bool append_put(append *file, const char *text, size_t size);

/* Writes what has come: 0, or an errno; then it is still there. */
int append_flush(append *file);

void append_close(append *file);

#endif
