/*
 * openmetrics.h: the parts of an OpenMetrics text (version 1.0.0), which Prometheus reads.
 */
#ifndef TAKT_KIT_OPENMETRICS_H
#define TAKT_KIT_OPENMETRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <takt/takt.h>

#define TAKT_OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* The lines before the samples of a family; unit NULL: none. */
void takt_openmetrics_head(FILE *out, const char *name, const char *type, const char *unit,
                           const char *help);

/* name="value". A reader refuses the whole text for one byte that is not UTF-8: it is written as
 * U+FFFD and two hexadecimal digits, as are the bytes of U+FFFD. So different values stay
 * different. */
void takt_openmetrics_label(FILE *out, const char *name, const char *value);

/* The value of a sample in seconds. */
void takt_openmetrics_seconds(FILE *out, int64_t value_us);

/* A family with one sample and no label. */
void takt_openmetrics_number(FILE *out, const char *name, bool is_counter, const char *help,
                             uint64_t number);

/* What a client asked of its store. */
void takt_openmetrics_client(FILE *out, const takt_stats *acts);

/* Replaces the file atomically, so that readers never see half of it: 0 or errno. Blocks. */
int takt_openmetrics_write_file(const char *path, const char *text, size_t size);

#endif
