/*
 * takt_status_page.h: what those who probe and scrape are told, by the path that they ask for.
 */
#ifndef TAKT_WORKERS_REPORT_STATUS_PAGE_H
#define TAKT_WORKERS_REPORT_STATUS_PAGE_H

#include "figures.h"

/* The answer's body, the caller's to free, with its size and type; NULL: no memory.  *code: what is
 * known of the request (200: it is good), and then the answer's own. */
char *takt_status_page(const takt_figures *figures, const char *path, int *code, size_t *size,
                       const char **type);

#endif
