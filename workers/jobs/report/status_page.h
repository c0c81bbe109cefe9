/*
 * status_page.h: the pages for probes and scrapers, by path.
 */
#ifndef TAKT_WORKERS_REPORT_STATUS_PAGE_H
#define TAKT_WORKERS_REPORT_STATUS_PAGE_H

#include "figures.h"

/* The body of the answer, the caller's to free, with its size and type; NULL: no memory. *code: the
 * result of parsing the request (200: good) goes in, the status of the answer comes out. */
char *takt_status_page(const takt_figures *figures, const char *path, int *code, size_t *size,
                       const char **type);

#endif
