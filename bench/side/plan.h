/*
 * plan.h: how the drivers in C are called and what they tell; peers/common.js is the same for those
 * under Node.
 *
 *     side-takt workload=pacing socket=/tmp/redis.sock rate=200 outstanding=50 together=1 out=FILE
 *
 * Instants are microseconds of CLOCK_MONOTONIC.  Those of the grants go to the file `out` as 64-bit
 * numbers, and their slots, where they have some, to `out`.slots; one JSON line on standard output
 * is the end.  A process of several (`together`) first says "ready" on a line of its own, and goes
 * when it reads begin_us, until_us and end_us on standard input.
 */
#ifndef TAKT_BENCH_SIDE_PLAN_H
#define TAKT_BENCH_SIDE_PLAN_H

#include <stdint.h>

typedef struct side_plan {
    const char *workload, *socket, *out; /* out: NULL: nowhere */
    int64_t rate;                        /* a second */
    int64_t outstanding;                 /* acquires at a time in this process */
    int64_t permits, job_ms;
    int64_t count;                      /* of acquires or keys */
    int64_t keys;                       /* that the acquires are spread over */
    int64_t rules;                      /* all alike */
    int64_t together;                   /* begin when all processes are ready */
    int64_t begin_us, until_us, end_us; /* what counts begins and ends, and everything ends */
} side_plan;

extern side_plan side;

/* Reads the command line; ends the program with a message where it is wrong. */
void side_read_plan(int argc, char **argv);

/* Where processes begin together: says that this one is ready, and waits for the others. */
void side_wait_for_all(void);

int64_t side_now_us(void);

/* A grant happened now; its slot by the store's clock, 0 where there is none. */
void side_granted(int64_t slot_us);

/* A job worked from then till now. */
void side_worked(int64_t from_us);

/* The same where there are too many to write down each: only how many there were, in how much time.
 */
void side_count(void);

/* One of `count` answers took so long. */
void side_took(int64_t ns);

/* Writes it all down. */
void side_tell(void);

#endif
