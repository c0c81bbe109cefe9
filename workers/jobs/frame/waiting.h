/*
 * waiting.h: who waits for what.  Each limit and key has a lane; a lane that waits never keeps the
 * others from going on, because all that it takes up is bounded: so many jobs with their texts, and
 * of the rest their references alone.
 *
 * No I/O and no clock: the worker asks for permits and fetches texts.
 */
#ifndef TAKT_WORKERS_FRAME_WAITING_H
#define TAKT_WORKERS_FRAME_WAITING_H

#include "jobs/report/report.h"
#include "jobs/sources/refs.h"
#include "work.h"

/* Jobs of one urgency that were put away. */
typedef struct waiting_away {
    struct waiting_away *next;
    int urgency;
    refs refs;
} waiting_away;

/* What all lanes of a limit take up together. */
typedef struct waiting_share {
    char *limit;
    unsigned lanes;
    size_t size;
} waiting_share;

struct lane {
    waiting_share *share;
    const char *limit;
    const char *key; /* NULL: the limit as a whole */
    report_limit *figures;
    job_list line;      /* with their texts, and not asked for yet; the most urgent first */
    unsigned asking;    /* for a permit */
    unsigned fetching;  /* texts of jobs that were put away */
    unsigned held;      /* jobs in memory that do not run, and those that are fetched */
    unsigned members;   /* all that are anywhere: without any it is gone */
    bool seated;        /* one of those that ask has its seat already */
    bool slow;          /* who asked last did not get its permit at once */
    size_t size;        /* of those in memory; 0: none is */
    waiting_away *away; /* those that were put away; the most urgent first */
    uint64_t away_count;
    lane *next, *previous; /* in the ring; NULL: it is in none */
};

typedef struct waiting {
    void *tree, *shares;
    lane *busy; /* a ring: those with a line, or with jobs that were put away */
    unsigned busy_count;
    unsigned lane_max; /* jobs that a lane holds in memory */
    size_t size_max;   /* bytes that all jobs in memory take up */
    size_t size;
    size_t lanes_size;   /* bytes of the lanes themselves */
    uint64_t away_count; /* in all lanes */
} waiting;

/* The lane of a limit and key, made where there is none.  NULL: no memory. */
lane *waiting_get(waiting *waiting, const char *limit, const char *key);

/* What a job of that text takes up. */
size_t waiting_size(size_t text_size);

/*
 * Whether a job may stay in memory.  A limit gets as much of it as it leaves over: whoever comes
 * later finds room, too (dynamic thresholds, Choudhury and Hahne 1998).
 */
bool waiting_has_room(const waiting *waiting, const lane *lane, size_t size);

/* A job goes into its lane's line, before its like where `first`, or out of it. */
void waiting_line_up(waiting *waiting, job *job, bool first);
void waiting_step_out(waiting *waiting, job *job);

/* A job comes into memory, or leaves it because it runs or is gone. */
void waiting_hold(waiting *waiting, job *job);
void waiting_let_go(waiting *waiting, job *job);

/* Counts what refers to a lane; with the last one it is gone. */
void waiting_join(lane *lane);
void waiting_leave(waiting *waiting, lane *lane);

/* Puts a reference away, or takes the most urgent one; *ref is untouched where there is none. */
bool waiting_put_away(waiting *waiting, lane *lane, int urgency, source_ref ref);
bool waiting_take_away(waiting *waiting, lane *lane, source_ref *ref);

#endif
