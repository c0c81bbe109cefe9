/*
 * work.h: a job from the inside, and the lists that it stands in.  A job is in exactly one of them
 * at a time; which one says how far it is.
 */
#ifndef TAKT_WORKERS_FRAME_WORK_H
#define TAKT_WORKERS_FRAME_WORK_H

#include "job.h"
#include "jobs/sources/source.h"

typedef struct lane lane;     /* waiting.h */
typedef struct worker worker; /* worker.h */

struct job {
    takt_permit permit;
    worker *worker;
    lane *lane;
    job *next, *previous; /* in its list */
    source_ref ref;
    int64_t since_us;      /* by the loop's clock: when it began to wait for this attempt */
    int64_t asked_at_us;   /* when it asked for its permit; while it does */
    int64_t granted_at_us; /* its slot; while it is ready or runs */
    int64_t due_at_us;     /* while it waits to be tried again */
    int64_t deadline_us;   /* of the wall clock; 0: none */
    int32_t cost;
    int8_t priority; /* as it says itself */
    bool seated;     /* it counts among those that run already */
    bool owed;       /* a slot of it was given back because there was no seat */
    bool lost;       /* somebody else has it by now */
    bool begun;      /* the source was told that it begins */
    bool settled;
    bool came_back;    /* it was begun before it came here, and never ended */
    bool parsed;       /* fields and head were kept when it was read */
    unsigned attempts; /* begun so far */
    /* while it runs, and while it is parsed */
    json_t *fields;
    job_head head;
    int64_t started_us;
    size_t size;
    char text[]; /* its line */
};

typedef struct job_list {
    job *first, *last;
    unsigned count;
} job_list;

void job_list_append(job_list *list, job *job);
void job_list_remove(job_list *list, job *job);

/* Behind all that are as urgent or more; before those where `first`. */
void job_list_insert(job_list *list, job *job, bool first);

/* The priority that orders jobs here, where it says none. */
int job_urgency(const job *job);

#endif
