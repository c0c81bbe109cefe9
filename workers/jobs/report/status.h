/*
 * status.h: a small HTTP server for probes (/live, /ready) and scrapers (/metrics), only on a unix
 * socket or on the loopback.
 */
#ifndef TAKT_WORKERS_REPORT_STATUS_H
#define TAKT_WORKERS_REPORT_STATUS_H

#include <uv.h>

#include "figures.h"

typedef struct takt_status takt_status;

/* `address` is "unix:PATH" or a port. `look` returns the present figures. 0, or a code and why. */
int takt_status_open(takt_status **status, uv_loop_t *loop, const char *address,
                     const takt_figures *(*look)(void *data), void *data, takt_error *error);

/* Stops serving; the memory is freed when the loop has run. NULL is harmless. */
void takt_status_close(takt_status *status);

#endif
