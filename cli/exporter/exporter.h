/*
 * What `takt exporter` serves: the watched limits as an OpenMetrics text.
 */
#ifndef TAKT_CLI_EXPORTER_H
#define TAKT_CLI_EXPORTER_H

#include "top/watch.h"

/* The caller's to free, with its size; NULL: no memory. A limit whose last look failed has no
 * samples, so that nothing is reported that is not known. */
char *takt_cli_exporter_text(const takt_cli_watch *watch, size_t *size);

#endif
