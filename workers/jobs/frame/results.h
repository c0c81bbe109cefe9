/*
 * results.h: the JSON lines of what jobs gave, written by the thread pool in batches.  A job whose
 * result is not written yet is not done: it would be lost with this worker.
 */
#ifndef TAKT_WORKERS_FRAME_RESULTS_H
#define TAKT_WORKERS_FRAME_RESULTS_H

#include "job.h"
#include "jobs/report/report.h"
#include "jobs/sources/source.h"
#include "jobs/text/buffer.h"

typedef struct results results;

typedef struct results_events {
    void (*written)(void *data, source_ref ref);  /* a result is kept now */
    void (*failed)(void *data, const char *text); /* none is any more */
} results_events;

/* `path`: appended to; NULL or "-": standard output.  Where that is the terminal of the report's
 * picture, results go above it. */
int results_open(results **results, uv_loop_t *loop, const char *path, report *report,
                 const results_events *events, void *data, takt_error *error);

/* One line of `result`, an object, to which the id is added.  False: no memory. */
bool results_put(results *results, json_t *result, const char *id, source_ref ref);

/* The same line into a buffer, which has failed afterwards where there was no memory. */
void results_write(text_buffer *lines, json_t *result, const char *id);

bool results_is_full(const results *results); /* whoever reads them is slower than we are */
bool results_is_idle(const results *results); /* all is written */

/* Once it is idle, or failed; NULL is harmless. */
void results_free(results *results);

#endif
