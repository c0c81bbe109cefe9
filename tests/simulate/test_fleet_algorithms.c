/*
 * A fleet under each algorithm, with more work than the rule allows: the grants keep the promise,
 * and use all that the rule allows in that time.
 */
#include <criterion/criterion.h>

#include "base/random.h"
#include "policy/policy.h"
#include "rules/promises.h"
#include "simulate/fleet.h"

enum { GRANTS_MAX = 20000, WAITERS = 40 };

typedef struct job {
    takt_permit permit;
    takt_fleet_worker *worker;
} job;

static takt_fleet fleet;
static taken grants[GRANTS_MAX];
static int grant_count, early;
static int64_t timer_late_us, way_us; /* way_us > 0: when calls arrive is noted, not their slots */
static uint64_t ways;

static void wait_again(takt_fleet *f, void *data)
{
    job *j = data;

    (void)f;
    takt_fleet_acquire(j->worker, 0, &j->permit, 0);
}

static void granted(takt_permit *permit, int status)
{
    job *j = permit->data;

    cr_assert_eq(status, 0);
    cr_assert_lt(grant_count, GRANTS_MAX);
    early += permit->slot_at_us > fleet.now_us;
    grants[grant_count] = (taken){permit->slot_at_us, permit->cost};
    if (way_us > 0)
        grants[grant_count].slot_us = fleet.now_us + takt_random_below(&ways, way_us + 1);
    grant_count++;
    takt_fleet_at(&fleet, fleet.now_us + 100, wait_again, j);
}

/* So many workers, each with waiters of cost 1 that come back once they were served. */
static void play(const takt_limit *limit, int workers, int64_t from_us, int64_t for_us)
{
    static job jobs[64 * WAITERS];

    grant_count = early = 0;
    cr_assert_eq(takt_fleet_open(&fleet, limit, workers, from_us, 1), 0);
    fleet.timer_late_us = timer_late_us;
    for (int i = 0; i < workers * WAITERS; i++) {
        jobs[i] = (job){.worker = &fleet.workers[i % workers]};
        jobs[i].permit = (takt_permit){
            .data = &jobs[i], .cost = 1, .priority = TAKT_PRIORITY_DEFAULT, .callback = granted};
        takt_fleet_at(&fleet, from_us + i * 100, wait_again, &jobs[i]);
    }
    takt_fleet_run(&fleet, from_us + for_us);
    qsort(grants, (size_t)grant_count, sizeof *grants, compare_taken);
    cr_expect_eq(early, 0);
    cr_expect_eq(fleet.ledgers[0].store.damaged, 0);
}

Test(fleet_algorithms, pass_all_that_there_is_room_for)
{
    static const struct {
        const takt_algorithm *algorithm;
        takt_align align;
        int64_t limit, period_us;
        int workers;
        int64_t for_us, min;
    } rows[] = {
        {&takt_token_bucket, 0, 100, SECOND, 4, 20 * SECOND, 2090},
        {&takt_leaky_bucket, 0, 100, SECOND, 4, 20 * SECOND, 1990},
        {&takt_fixed_window, TAKT_ALIGN_CLOCK, 100, SECOND, 1, 20 * SECOND, 2000},
        {&takt_fixed_window, TAKT_ALIGN_CLOCK, 100, SECOND, 16, 20 * SECOND, 2000},
        {&takt_fixed_window, TAKT_ALIGN_FIRST_USE, 100, SECOND, 16, 20 * SECOND, 1900},
        {&takt_fixed_window, TAKT_ALIGN_CLOCK, 100, MINUTE, 16, 10 * MINUTE + SECOND, 1100},
        {&takt_sliding_window, 0, 100, SECOND, 16, 20 * SECOND, 1970},
        {&takt_sliding_window, 0, 10, SECOND / 10, 4, 20 * SECOND, 1790},
        {&takt_sliding_log, 0, 100, SECOND, 1, 20 * SECOND, 1990},
        {&takt_sliding_log, 0, 100, SECOND, 16, 20 * SECOND, 1990},
        {&takt_sliding_log, 0, 1000, 10 * SECOND, 64, 20 * SECOND, 2000},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_limit limit = {
            .name = "test", .numbers.rule_count = 1, .numbers.lookahead_us = TAKT_LOOKAHEAD_US};
        limit.numbers.rules[0] = (takt_rule){.algorithm = rows[i].algorithm,
                                             .align = rows[i].align,
                                             .limit = rows[i].limit,
                                             .period_us = rows[i].period_us};
        cr_assert_eq(takt_rule_prepare(&limit.numbers.rules[0], NULL), 0);
        play(&limit, rows[i].workers, NOW - NOW % MINUTE + 300 * MS, rows[i].for_us);
        cr_expect(holds(&limit.numbers.rules[0], grants, grant_count), "row %zu", i);
        cr_expect_geq(grant_count, rows[i].min, "row %zu: %d", i, grant_count);
        takt_fleet_close(&fleet);
    }
}

/* A vendor of 100/s that counts every stretch of a second, and three workers with its numbers: they
 * wake up to 10 ms late, and calls take up to 35 ms. With the policy's guard the vendor refuses
 * none, at 95 % of the rate; without it some would be refused. */
Test(fleet_algorithms, a_strict_vendor_refuses_nothing)
{
    static const struct {
        const char *guard;
        bool holds;
        int min;
    } rows[] = {{NULL, true, 1900}, {"0", false, 1990}};
    takt_rule strict = rule_by(&takt_sliding_log, 100, SECOND);

    timer_late_us = 10 * MS;
    way_us = 35 * MS;
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule_text rule = {.rate = "100/s", .algorithm = "sliding-log", .guard = rows[i].guard};
        takt_limit_text text = {.name = "vendor", .rules = &rule, .rule_count = 1};
        takt_policy *policy;
        cr_assert_eq(takt_policy_new(&policy, NULL), 0);
        cr_assert_eq(takt_policy_add(policy, &text, NULL), 0);
        play(takt_policy_find(policy, "vendor"), 3, NOW, 20 * SECOND);
        cr_expect_eq(holds(&strict, grants, grant_count), rows[i].holds, "row %zu", i);
        cr_expect_geq(grant_count, rows[i].min, "row %zu: %d", i, grant_count);
        takt_fleet_close(&fleet);
        takt_policy_free(policy);
    }
    timer_late_us = way_us = 0;
}

/* 40/s AND 300 in 10 s, exact, AND 1200 a minute by the clock. */
Test(fleet_algorithms, hold_at_once)
{
    takt_limit limit = {
        .name = "test", .numbers.rule_count = 3, .numbers.lookahead_us = TAKT_LOOKAHEAD_US};

    limit.numbers.rules[0] = rule_by(&takt_gcra, 40, SECOND);
    limit.numbers.rules[1] = rule_by(&takt_sliding_log, 300, 10 * SECOND);
    limit.numbers.rules[2] = rule_by(&takt_fixed_window, 1200, MINUTE);
    play(&limit, 8, NOW - NOW % MINUTE, 3 * MINUTE);
    for (int i = 0; i < limit.numbers.rule_count; i++)
        cr_expect(holds(&limit.numbers.rules[i], grants, grant_count), "rule %d", i);
    cr_expect_geq(grant_count, 3 * 1200, "%d", grant_count);
    takt_fleet_close(&fleet);
}
