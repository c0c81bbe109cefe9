/*
 * status_page.h: the pages of a program for probes and scrapers, by path: /live, /ready, /metrics.
 */
#ifndef TAKT_KIT_STATUS_PAGE_H
#define TAKT_KIT_STATUS_PAGE_H

#include <stddef.h>

/* The body of the answer, the caller's to free, with its size and type; NULL: no memory. *code: the
 * result of parsing the request (200: good) goes in, the status of the answer comes out. `trouble`
 * is why the program is not ready; NULL: it is. metrics() returns a text to be freed. */
char *takt_status_page(const char *path, const char *trouble,
                       char *(*metrics)(void *data, size_t *size), void *data, int *code,
                       size_t *size, const char **type);

#endif
