/*
 * notes.h: the notes of the workers of a fault test, in memory that they share with the test: each
 * slot that they used, and their events. A killed worker has noted everything that its callbacks
 * received, except for a callback under way.
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
    atomic_llong calls_before;           /* of earlier workers at this index */
    atomic_int lost, back;               /* events */
    atomic_int code;                     /* of the last loss */
    atomic_llong lost_at_us, back_at_us; /* monotonic */
    atomic_llong early, twice, strange;  /* what must not be */
    atomic_int strange_status;
    atomic_llong noted;
    struct note notes[WORKER_NOTES];
};

struct notes {
    sem_t changed;        /* posted when `wanted` is reached, and for each event */
    atomic_bool stopping; /* no new waiters; the present ones are served */
    /* How far the clock of a ledger's server is ahead of this host's; CLOCK_UNSTEADY: it changes,
     * so that an early slot cannot be recognised. */
    atomic_llong shift_us[LEDGERS_MAX];
    struct permits permits;
    struct worker_notes workers[WORKERS_MAX];
};

struct notes *notes_open(void);

/* The highest time of this host's wall clock so far: a clock that is set back must not make earlier
 * slots look early. */
int64_t notes_wall_us(void);
int64_t notes_monotonic_us(void);

#endif
