/*
 * job_list.h: the inside of a job, and the lists of jobs. A job is in exactly one list at a time;
 * the list shows the job's state.
 */
#ifndef TAKT_WORKERS_FRAME_JOB_LIST_H
#define TAKT_WORKERS_FRAME_JOB_LIST_H

#include <jansson.h>
#include <takt/worker.h>

#include "jobs/sources/source.h"

typedef struct takt_lane takt_lane;     /* lanes.h */
typedef struct takt_worker takt_worker; /* worker.h */

struct takt_job {
    takt_permit permit;
    takt_worker *worker;
    takt_lane *lane;
    takt_job *next, *previous; /* neighbours in the list */
    takt_job_ref ref;
    int64_t since_us;        /* by the loop's clock: the begin of the wait for this attempt */
    int64_t requested_at_us; /* when the job asked for its permit */
    int64_t granted_at_us;   /* the job's slot, while the job is ready or runs */
    int64_t due_at_us;       /* when the job is tried again */
    takt_node due_node;      /* orders the jobs that are tried again */
    int64_t deadline_us;     /* of the wall clock; 0: none */
    int32_t cost;
    takt_amount amounts[TAKT_AMOUNTS_MAX]; /* their names: unit_names.h */
    int8_t priority;                       /* as the job says */
    bool seated;                           /* the job has a seat before it runs */
    bool owed;                             /* a slot of the job was given back for want of a seat */
    bool lost;                             /* another worker has the job by now */
    bool begun;                            /* the source was told that the job begins */
    bool settled;
    bool redelivered;  /* an earlier worker began the job and did not end it */
    bool parsed;       /* fields and head were kept when the job was read */
    unsigned attempts; /* attempts begun so far */
    /* set while the job runs and while it is parsed */
    json_t *fields;
    takt_job_head head;
    int64_t started_us;
    size_t size;
    char text[]; /* the job's line */
};

typedef struct takt_job_list {
    takt_job *first, *last;
    unsigned count;
} takt_job_list;

void takt_job_list_append(takt_job_list *list, takt_job *job);
void takt_job_list_remove(takt_job_list *list, takt_job *job);

/* Inserts behind all jobs of the same or higher urgency; before the jobs of the same urgency if
 * `first`. */
void takt_job_list_insert(takt_job_list *list, takt_job *job, bool first);

/* The priority that orders the jobs of this worker, also if the job names none. */
int takt_job_urgency(const takt_job *job);

#endif
