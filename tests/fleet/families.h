/*
 * families.h: kinds of fleets, beside those of scenario.h, that draw their course from a seed.
 *
 * A broken promise is reported to checker_on_failure.
 */
#ifndef TAKT_TESTS_FLEET_FAMILIES_H
#define TAKT_TESTS_FLEET_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

#include "simulate/fleet.h"

typedef struct family {
    int each, at; /* of so many seeds one has such a fleet, too: that with this remainder */
    void (*run)(uint64_t seed);
    void (*run_figures)(void); /* fleets that docs/design.md has figures of; NULL: none */
} family;

extern const family hosts_family, tenants_family, nested_family, held_family, bounded_family,
    units_family, nested_units_family, nested_tenants_family, modes_family, nested_tries_family,
    nested_rates_family;

/* Reports that a promise is broken, for whom, and by how much. */
__attribute__((noreturn)) void family_fail(int promise, const char *what, const char *who,
                                           int64_t got, int64_t of);

/* A GCRA rule of so many tokens a period is the only one. */
void family_set_rule(takt_numbers *numbers, int64_t tokens, int64_t period_us, int64_t burst);

/* Opens a fleet of workers that are so far from the store. */
void family_open(takt_fleet *fleet, const takt_limit *outer, int workers, int64_t now_us,
                 int64_t delay_us, uint64_t seed);

/* What a job acquires: one token, with the usual priority. */
takt_permit family_permit(void *job, takt_acquire_cb started);

/* An acquire has ended: it has not failed (promise 5), and its slot is not yet to come (2). */
void family_check_start(const takt_fleet *fleet, const takt_permit *permit, int status,
                        const char *who);

/* Six faults, while messages are lost and repeated.  Each of them is of a worker that is drawn; if
 * it has died, nothing happens. */
typedef struct storm_kind {
    int wakes_lost;  /* of a thousand wake-ups, at most; 0: none */
    int64_t step_us; /* from one fault to the next, at most */
    /* It stops with that probability (percent), for so long at most. */
    int freezes;
    int64_t frozen_us;
    /* Otherwise it blocks an inner ledger; otherwise the outermost one; otherwise it dies, but not
     * worker 0.  Each with its own probability. */
    int inner_blocks, blocks, crashes;
    int64_t rest_us; /* from the last fault to the end */
} storm_kind;

extern const storm_kind family_nested_storm;

/* block() blocks the inner ledger of that number, of `inner` of them; 0: there are none. */
void family_storm(takt_fleet *fleet, const storm_kind *kind, int inner,
                  void (*block)(takt_fleet_worker *worker, int number, int64_t for_us),
                  uint64_t *random);

/* A fleet with figures, with trips of that time. */
typedef void (*family_figure)(int64_t delay_us, uint64_t seed);

/* Runs each with trips of 0, 0.5 and 5 ms. */
void family_run_figures(const family_figure *figures, size_t count);

#endif
