/*
 * notes.h: what the workers of a fault test note, in memory that they share with the test: each
 * slot that they used, and what they were told.  A worker that is killed has noted all that its
 * callbacks were given, but for the one it was in.
 */
#ifndef TAKT_TESTS_FAULTS_NOTES_H
#define TAKT_TESTS_FAULTS_NOTES_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "faults/permits.h"

#define WORKERS_MAX    HOLDERS_MAX
#define WORKER_NOTES   1000000
#define GIVE_UP_US     INT64_C(400000) /* of those waiters that may */
#define CLOCK_UNSTEADY INT64_MAX

struct note {
    int64_t slot_us;  /* by the store's clock */
    int64_t fired_us; /* by this host's wall clock */
    int32_t ledger;
    int32_t cost;
};

/* One writer each; `notes` are valid up to `noted`. */
struct worker_notes {
    atomic_llong grants, given_up;
    atomic_llong wanted;                 /* the test wants to know when there are so many grants */
    atomic_llong calls;                  /* to the store */
    atomic_llong calls_before;           /* of those that ran in this place before */
    atomic_int lost, back;               /* events */
    atomic_int code;                     /* of the last loss */
    atomic_llong lost_at_us, back_at_us; /* monotonic */
    atomic_llong early, twice, strange;  /* what must not be */
    atomic_int strange_status;
    atomic_llong noted;
    struct note notes[WORKER_NOTES];
};

struct notes {
    sem_t changed;         /* posted when `wanted` is reached, and for each event */
    atomic_bool stopping;  /* no new waiters; who waits is served */
    atomic_llong shift_us; /* what the server's clock is ahead of this host's; CLOCK_UNSTEADY: it
                              changes, so that who is early cannot be told */
    struct permits permits;
    struct worker_notes workers[WORKERS_MAX];
};

struct notes *notes_open(void);

/* This host's wall clock, as far as it was ever seen to be: whoever sets it back meanwhile makes no
 * slot look early that was awarded before. */
int64_t notes_wall_us(void);
int64_t notes_monotonic_us(void);

#endif
