/*
 * families.c: see families.h.
 */
#include "families.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "checker.h"
#include "scenario.h"

#define SECOND_US INT64_C(1000000)
#define FAULTS    6 /* of a storm */

const storm_kind family_nested_storm = {.step_us = SECOND_US,
                                        .freezes = 30,
                                        .frozen_us = 2 * SECOND_US,
                                        .inner_blocks = 40,
                                        .blocks = 40,
                                        .crashes = 40,
                                        .rest_us = 2 * SECOND_US};

void family_fail(int promise, const char *what, const char *who, int64_t got, int64_t of)
{
    printf("promise %d is broken: %s: %s: %" PRId64 " of %" PRId64 "\n", promise, what, who, got,
           of);
    timeline_kept = true; /* there is none of these fleets */
    checker_on_failure();
    abort();
}

void family_set_rule(takt_numbers *numbers, int64_t tokens, int64_t period_us, int64_t burst)
{
    numbers->rule_count = 1;
    numbers->rules[0] = (takt_rule){
        .algorithm = &takt_gcra, .limit = tokens, .period_us = period_us, .burst = burst};
    if (takt_rule_prepare(&numbers->rules[0], NULL) != 0)
        abort();
}

void family_open(takt_fleet *fleet, const takt_limit *outer, int workers, int64_t now_us,
                 int64_t delay_us, uint64_t seed)
{
    if (takt_fleet_open(fleet, outer, workers, now_us, seed) < 0)
        abort();
    fleet->timeout_us = SECOND_US;
    fleet->delay_min_us = delay_us / 4;
    fleet->delay_max_us = delay_us;
}

takt_permit family_permit(void *job, takt_acquire_cb started)
{
    return (takt_permit){
        .data = job, .callback = started, .cost = 1, .priority = TAKT_PRIORITY_DEFAULT};
}

void family_check_start(const takt_fleet *fleet, const takt_permit *permit, int status,
                        const char *who)
{
    if (status != 0)
        family_fail(5, "an acquire fails", who, status, 0);
    if (permit->slot_at_us > takt_fleet_ledger_clock(fleet, 0))
        family_fail(2, "a start before its slot", who, permit->slot_at_us, fleet->now_us);
}

void family_storm(takt_fleet *fleet, const storm_kind *kind, int inner,
                  void (*block)(takt_fleet_worker *worker, int number, int64_t for_us),
                  uint64_t *random)
{
    fleet->lost_per_mille = (int)draw(random, 100);
    fleet->doubled_per_mille = (int)draw(random, 100);
    if (kind->wakes_lost > 0)
        fleet->wakes_lost_per_mille = (int)draw(random, kind->wakes_lost);
    for (int i = 0; i < FAULTS; i++) {
        takt_fleet_worker *worker = &fleet->workers[draw(random, fleet->worker_count)];
        int number = inner > 0 ? (int)draw(random, inner) : 0;
        takt_fleet_run(fleet, fleet->now_us + draw(random, kind->step_us));
        if (worker->dead)
            continue;
        if (chance(random, kind->freezes))
            takt_fleet_freeze(worker, fleet->now_us + draw(random, kind->frozen_us));
        else if (inner > 0 && chance(random, kind->inner_blocks))
            block(worker, number, draw(random, SECOND_US));
        else if (kind->blocks > 0 && chance(random, kind->blocks))
            takt_fleet_call(worker, 0, TAKT_OP_BLOCK, draw(random, SECOND_US));
        else if (worker->index > 0 && chance(random, kind->crashes))
            takt_fleet_crash(worker);
    }
    takt_fleet_run(fleet, fleet->now_us + kind->rest_us);
    fleet->lost_per_mille = fleet->doubled_per_mille = fleet->wakes_lost_per_mille = 0;
}

void family_run_figures(const family_figure *figures, size_t count)
{
    static const int64_t delays_us[] = {0, 500, 5000};

    for (size_t i = 0; i < sizeof delays_us / sizeof *delays_us; i++)
        for (size_t j = 0; j < count; j++)
            figures[j](delays_us[i], i + 1);
}
