/*
 * job_list.h: a job from the inside, and the lists that it stands in.  A job is in exactly one of
 * them at a time; which one says how far it is.
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
    takt_job *next, *previous; /* in its list */
    takt_job_ref ref;
    int64_t since_us;        /* by the loop's clock: when it began to wait for this attempt */
    int64_t requested_at_us; /* when it asked for its permit; while it does */
    int64_t granted_at_us;   /* its slot; while it is ready or runs */
    int64_t due_at_us;       /* while it waits to be tried again */
    takt_node due_node;      /* the same */
    int64_t deadline_us;     /* of the wall clock; 0: none */
    int32_t cost;
    int8_t priority; /* as it says itself */
    bool seated;     /* it counts among those that run already */
    bool owed;       /* a slot of it was given back because there was no seat */
    bool lost;       /* somebody else has it by now */
    bool begun;      /* the source was told that it begins */
    bool settled;
    bool redelivered;  /* it was begun before it came here, and never ended */
    bool parsed;       /* fields and head were kept when it was read */
    unsigned attempts; /* begun so far */
    /* while it runs, and while it is parsed */
    json_t *fields;
    takt_job_head head;
    int64_t started_us;
    size_t size;
    char text[]; /* its line */
};

typedef struct takt_job_list {
    takt_job *first, *last;
    unsigned count;
} takt_job_list;

void takt_job_list_append(takt_job_list *list, takt_job *job);
void takt_job_list_remove(takt_job_list *list, takt_job *job);

/* Behind all that are as urgent or more; before those where `first`. */
void takt_job_list_insert(takt_job_list *list, takt_job *job, bool first);

/* The priority that orders jobs here, where it says none. */
int takt_job_urgency(const takt_job *job);

#endif
