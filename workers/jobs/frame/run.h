/*
 * run.h: what the parts of a job's life share: taking it (take.c), its permit and its seat (run.c),
 * its start and its end (end.c).
 */
#ifndef TAKT_WORKERS_FRAME_RUN_H
#define TAKT_WORKERS_FRAME_RUN_H

#include "worker.h"

/* How long a slot is kept for which there is no seat. */
#define RUN_STALE_US 1000000

/* take.c */
void run_fetch(takt_worker *worker, takt_lane *lane, takt_job_ref ref); /* asks for a text */
unsigned run_fetching(const takt_worker *worker);
void run_drop_fetches(takt_worker *worker); /* none is waited for any more */
/* Parses and checks a text: 0 with *fields and *head, or why it can never be done.  *id is its own
 * where it has one, also then; owned by the caller. */
int run_read(takt_worker *worker, const char *text, size_t size, json_t **fields,
             takt_job_head *head, takt_error *error);

/* run.c */
takt_request run_request(const takt_job *job);

/* Until then those who have just asked are waited for, before more is read; INT64_MAX: nobody is.
 */
int64_t run_asked_until(const takt_worker *worker);

/* end.c */
void run_start(takt_job *job);                             /* it has its seat */
void run_dead(takt_job *job, const char *why);             /* it never started; it is in no list */
void run_retry_after(takt_job *job, int64_t wait_us);      /* it is in no list */
void run_give_back(takt_job *job, takt_report_state from); /* likewise; it is gone */
void run_bury(takt_worker *worker, takt_report_limit *figures, takt_report_state from,
              takt_job_ref ref, const char *text, size_t size, const char *id, const char *why);

#endif
