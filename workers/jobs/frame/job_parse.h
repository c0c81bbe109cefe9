/*
 * job_parse.h: the line of a job, read.
 *
 * While a job waits it is its line alone; the line is parsed again when the slot is due, so that a
 * hundred thousand waiting jobs are small.
 */
#ifndef TAKT_WORKERS_FRAME_JOB_PARSE_H
#define TAKT_WORKERS_FRAME_JOB_PARSE_H

#include <jansson.h>
#include <takt/worker.h>

/*
 * Reads a line: 0 with *fields (the caller's to json_decref) and *head, whose strings live as long
 * as *fields; or TAKT_E_INVALID, and `error` names the field and what to write instead.  `limit`
 * (NULL: none) is for jobs that name none.
 */
int takt_job_parse(const char *text, size_t size, const char *limit, json_t **fields,
                   takt_job_head *head, takt_error *error);

#endif
