/*
 * metrics.h: writes the figures as OpenMetrics text (version 1.0.0), which Prometheus reads.
 */
#ifndef TAKT_WORKERS_REPORT_METRICS_H
#define TAKT_WORKERS_REPORT_METRICS_H

#include "figures.h"

/* The caller's to free; NULL: no memory. */
char *takt_metrics_text(const takt_figures *figures, size_t *size);

#endif
