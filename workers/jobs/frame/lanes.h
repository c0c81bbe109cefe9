/*
 * lanes.h: who waits for what.  Each limit and key has a lane; a lane that waits never keeps the
 * others from going on, because all that it takes up is bounded: so many jobs with their texts, and
 * of the rest their references alone.
 *
 * No I/O and no clock: the worker asks for permits and fetches texts.
 */
#ifndef TAKT_WORKERS_FRAME_LANES_H
#define TAKT_WORKERS_FRAME_LANES_H

#include "job_list.h"
#include "jobs/report/report.h"
#include "jobs/sources/refs.h"

/* Jobs of one urgency that were put away. */
typedef struct takt_lane_away {
    struct takt_lane_away *next;
    int urgency;
    takt_job_refs refs;
} takt_lane_away;

/* What all lanes of a limit take up together. */
typedef struct takt_lane_share {
    char *limit;
    unsigned lanes;
    size_t size;
} takt_lane_share;

struct takt_lane {
    takt_lane_share *share;
    const char *limit;
    const char *key; /* NULL: the limit as a whole */
    takt_report_limit *figures;
    takt_job_list line;   /* with their texts, and not asked for yet; the most urgent first */
    unsigned acquiring;   /* for a permit */
    unsigned fetching;    /* texts of jobs that were put away */
    unsigned held;        /* jobs in memory that do not run, and those that are fetched */
    unsigned members;     /* all that are anywhere: without any it is gone */
    bool seated;          /* one of those that acquire has its seat already */
    bool slow;            /* who asked last did not get its permit at once */
    size_t size;          /* of those in memory; 0: none is */
    takt_lane_away *away; /* those that were put away; the most urgent first */
    uint64_t away_count;
    takt_lane *next, *previous; /* in the ring; NULL: it is in none */
};

typedef struct takt_lanes {
    void *tree, *shares;
    takt_lane *busy; /* a ring: those with a line, or with jobs that were put away */
    unsigned busy_count;
    unsigned lane_max; /* jobs that a lane holds in memory */
    size_t size_max;   /* bytes that all jobs in memory take up */
    size_t size;
    size_t lanes_size;   /* bytes of the lanes themselves */
    uint64_t away_count; /* in all lanes */
} takt_lanes;

/* The lane of a limit and key, made where there is none.  NULL: no memory. */
takt_lane *takt_lanes_get(takt_lanes *lanes, const char *limit, const char *key);

/* What a job of that text takes up. */
size_t takt_lanes_size(size_t text_size);

/*
 * Whether a job may stay in memory.  A limit gets as much of it as it leaves over: whoever comes
 * later finds room, too (dynamic thresholds, Choudhury and Hahne 1998).
 */
bool takt_lanes_has_room(const takt_lanes *lanes, const takt_lane *lane, size_t size);

/* A job goes into its lane's line, before its like where `first`, or out of it. */
void takt_lanes_line_up(takt_lanes *lanes, takt_job *job, bool first);
void takt_lanes_step_out(takt_lanes *lanes, takt_job *job);

/* A job comes into memory, or leaves it because it runs or is gone. */
void takt_lanes_hold(takt_lanes *lanes, takt_job *job);
void takt_lanes_let_go(takt_lanes *lanes, takt_job *job);

/* Counts what refers to a lane; with the last one it is gone. */
void takt_lanes_join(takt_lane *lane);
void takt_lanes_leave(takt_lanes *lanes, takt_lane *lane);

/* Puts a reference away, or takes the most urgent one; *ref is untouched where there is none. */
bool takt_lanes_put_away(takt_lanes *lanes, takt_lane *lane, int urgency, takt_job_ref ref);
bool takt_lanes_take_away(takt_lanes *lanes, takt_lane *lane, takt_job_ref *ref);

#endif
