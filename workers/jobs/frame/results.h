/*
 * results.h: writes the results of jobs as JSON lines, in batches, in the thread pool. A job is
 * done only when its result is written; otherwise a crash would lose the result.
 */
#ifndef TAKT_WORKERS_FRAME_RESULTS_H
#define TAKT_WORKERS_FRAME_RESULTS_H

#include <jansson.h>
#include <uv.h>

#include "jobs/report/report.h"
#include "jobs/sources/source.h"
#include "jobs/text/buffer.h"

typedef struct takt_results takt_results;

typedef struct takt_results_events {
    void (*written)(void *data, takt_job_ref ref); /* this job's result is written */
    void (*failed)(void *data, const char *text);  /* writing has failed for good */
} takt_results_events;

/* `path`: the file to append to; NULL or "-": standard output. If the report has its picture on the
 * same terminal, results go above it. */
int takt_results_open(takt_results **results, uv_loop_t *loop, const char *path,
                      takt_report *report, const takt_results_events *events, void *data,
                      takt_error *error);

/* Adds one line: `result`, an object, with the id added. False: no memory. */
bool takt_results_put(takt_results *results, json_t *result, const char *id, takt_job_ref ref);

/* Writes the same line into a buffer. Without memory the buffer has failed afterwards. */
void takt_results_write(takt_buffer *lines, json_t *result, const char *id);

bool takt_results_is_full(const takt_results *results); /* the reader is slower than the worker */
bool takt_results_is_idle(const takt_results *results); /* everything is written */

/* Frees the results when they are idle or have failed; NULL is harmless. */
void takt_results_free(takt_results *results);

#endif
