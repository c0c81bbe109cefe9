/*
 * lanes.h: the jobs that wait, by limit and key. Each limit and key has a lane. Each lane has a
 * bound: some jobs with their texts, the others as references only. So a lane that waits never
 * stops the other lanes.
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

/* The memory of all lanes of a limit. */
typedef struct takt_lane_share {
    char *limit;
    unsigned lanes;
    size_t size;
} takt_lane_share;

struct takt_lane {
    takt_lane_share *share;
    const char *limit;
    const char *key;    /* NULL: the limit as a whole */
    const char *tenant; /* NULL: none, or the limit has no tenants */
    takt_report_limit *figures;
    takt_job_list line;   /* jobs with their texts and without a request; the most urgent first */
    unsigned acquiring;   /* jobs that have asked for a permit */
    unsigned fetching;    /* jobs whose texts are being fetched */
    unsigned held;        /* jobs in memory that do not run, and jobs being fetched */
    unsigned members;     /* all jobs of the lane; at 0 the lane is freed */
    bool seated;          /* a job that asks for a permit has its seat already */
    bool slow;            /* the last request did not get its permit at once */
    size_t size;          /* bytes of the jobs in memory */
    takt_lane_away *away; /* jobs that were put away; the most urgent first */
    uint64_t away_count;
    takt_lane *next, *previous; /* in the ring; NULL: in no ring */
};

typedef struct takt_lanes {
    void *tree, *shares;
    takt_lane *busy; /* a ring: lanes with a line, or with jobs that were put away */
    unsigned busy_count;
    unsigned lane_max; /* jobs that a lane holds in memory */
    size_t size_max;   /* bytes of all jobs in memory */
    size_t size;
    size_t lanes_size;   /* bytes of the lanes themselves */
    uint64_t away_count; /* jobs put away, in all lanes */
} takt_lanes;

/* The lane of a limit, key and tenant; created at the first call. NULL: no memory. */
takt_lane *takt_lanes_get(takt_lanes *lanes, const char *limit, const char *key,
                          const char *tenant);

/* The memory that a job with a text of this size takes. */
size_t takt_lanes_size(size_t text_size);

/*
 * Whether a job may stay in memory. A limit may use as much memory as it leaves free, so that a
 * limit that comes later finds room, too (dynamic thresholds, Choudhury and Hahne 1998).
 */
bool takt_lanes_has_room(const takt_lanes *lanes, const takt_lane *lane, size_t size);

/* Adds a job to its lane's line, before jobs of the same urgency if `first`; or removes it. */
void takt_lanes_line_up(takt_lanes *lanes, takt_job *job, bool first);
void takt_lanes_step_out(takt_lanes *lanes, takt_job *job);

/* Counts a job that comes into memory; or one that leaves it because it runs or ends. */
void takt_lanes_hold(takt_lanes *lanes, takt_job *job);
void takt_lanes_let_go(takt_lanes *lanes, takt_job *job);

/* Counts the references to a lane, which is freed with the last one. */
void takt_lanes_join(takt_lane *lane);
void takt_lanes_leave(takt_lanes *lanes, takt_lane *lane);

/* Puts a reference away; or takes the most urgent one (*ref is unchanged if there is none). */
bool takt_lanes_put_away(takt_lanes *lanes, takt_lane *lane, int urgency, takt_job_ref ref);
bool takt_lanes_take_away(takt_lanes *lanes, takt_lane *lane, takt_job_ref *ref);

#endif
