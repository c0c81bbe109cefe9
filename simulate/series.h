/*
 * series.h: what happened when, in a bounded number of steps of time.
 *
 * The steps begin fine and double in length whenever the time has outgrown them, so that a job of
 * any length takes the same memory and none must be known beforehand.  The first three periods of
 * the tightest rule are kept in finer steps besides, as a close-up.
 */
#ifndef TAKT_SIMULATE_SERIES_H
#define TAKT_SIMULATE_SERIES_H

#include <takt/simulate.h>

#define TAKT_SERIES_STEPS     2048
#define TAKT_CLOSE_UP_STEPS   240
#define TAKT_CLOSE_UP_PERIODS 3

typedef struct takt_series_waits {
    int64_t count, sum_us, max_us;
} takt_series_waits;

typedef struct takt_series_step {
    int64_t tokens; /* that the starts took */
    takt_series_waits waits[TAKT_SIM_PRIORITIES];
} takt_series_step;

typedef struct takt_series {
    int64_t step_us;
    int steps;                             /* of them so many are in use */
    int64_t close_up_us;                   /* a step of the close-up */
    int64_t close_up[TAKT_CLOSE_UP_STEPS]; /* tokens */
    takt_series_step step[TAKT_SERIES_STEPS];
} takt_series;

/* Of zeros; period_us is the tightest rule's: steps of a whole period and more are multiples of it.
 */
void takt_series_init(takt_series *series, int64_t period_us);

/* A job started that long after the beginning. */
void takt_series_add(takt_series *series, int64_t after_us, int priority, int64_t tokens,
                     int64_t wait_us);

/* `count` steps from `first` on as one; what lies beyond those in use is empty. */
void takt_series_sum(const takt_series *series, int64_t first, int64_t count,
                     takt_series_step *sum);

#endif
