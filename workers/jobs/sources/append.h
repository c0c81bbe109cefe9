/*
 * append.h: a file that only grows; lines are collected and written by one write.
 */
#ifndef TAKT_WORKERS_SOURCES_APPEND_H
#define TAKT_WORKERS_SOURCES_APPEND_H

#include "jobs/text/buffer.h"

typedef struct takt_append {
    int fd; /* -1: no file, and nothing is kept */
    takt_buffer text;
} takt_append;

/* False: no memory. */
bool takt_append_put(takt_append *file, const char *text, size_t size);

/* Writes the collected lines: 0, or an errno, and the lines are kept. */
int takt_append_flush(takt_append *file);

void takt_append_close(takt_append *file);

#endif
