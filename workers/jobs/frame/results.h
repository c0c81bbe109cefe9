/*
 * results.h: the JSON lines of what jobs gave, written by the thread pool in batches.  A job whose
 * result is not written yet is not done: it would be lost with this worker.
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
    void (*written)(void *data, takt_job_ref ref); /* a result is kept now */
    void (*failed)(void *data, const char *text);  /* none is any more */
} takt_results_events;

/* `path`: appended to; NULL or "-": standard output.  Where that is the terminal of the report's
 * picture, results go above it. */
int takt_results_open(takt_results **results, uv_loop_t *loop, const char *path,
                      takt_report *report, const takt_results_events *events, void *data,
                      takt_error *error);

/* One line of `result`, an object, to which the id is added.  False: no memory. */
bool takt_results_put(takt_results *results, json_t *result, const char *id, takt_job_ref ref);

/* The same line into a buffer, which has failed afterwards where there was no memory. */
void takt_results_write(takt_buffer *lines, json_t *result, const char *id);

bool takt_results_is_full(
    const takt_results *results); /* whoever reads them is slower than we are */
bool takt_results_is_idle(const takt_results *results); /* all is written */

/* Once it is idle, or failed; NULL is harmless. */
void takt_results_free(takt_results *results);

#endif
