/*
 * The promise of GCRA, as its file states it: in any interval of length d, at most burst + d / T
 * tokens.  Random rules, random arrivals, and the numbers at the ends of the scale.
 */
#include "base/random.h"
#include "core/limits.h"
#include "seed.h"

enum { SLOTS = 400 };

static int64_t between(uint64_t *random, int64_t min, int64_t max)
{
    return min + takt_random_below(random, max - min + 1);
}

/* As likely small as large. */
static int64_t any_size(uint64_t *random, int64_t max)
{
    int64_t bound = max;

    for (int64_t cut = takt_random_below(random, 8); cut > 0 && bound > 16; cut--)
        bound /= 10;
    return between(random, 1, bound);
}

static takt_rule random_rule(uint64_t *random)
{
    for (;;) {
        takt_rule rule = {.algorithm = &takt_gcra,
                          .limit = any_size(random, TAKT_RULE_LIMIT_MAX),
                          .period_us = any_size(random, DAY),
                          .burst = any_size(random, 10000),
                          .headroom_bp =
                              takt_random_below(random, 4) ? 0 : between(random, 0, 9999)};
        if (takt_rule_prepare(&rule, NULL) == 0)
            return rule;
    }
}

/* Tokens taken as soon as may be by askers that come at random, singly and in series. */
static int take_at_random(const takt_rule *rule, uint64_t *random, taken *slots)
{
    int64_t now_us = NOW, spread_us = 2 * rule->interval.us + 2;
    takt_rule_state state = {.pages = NULL};
    int count = 0;

    takt_gcra.rest(rule, &state, now_us);
    while (count < SLOTS) {
        int64_t cost = any_size(random, rule->burst < 1000 ? rule->burst : 1000);
        now_us +=
            takt_random_below(random, 3) ? 0 : takt_random_below(random, spread_us * cost + 1);
        if (takt_random_below(random, 2)) {
            int64_t slot_us = takt_gcra.earliest(rule, &state, now_us, cost);
            takt_gcra.commit(rule, &state, slot_us, cost);
            slots[count++] = (taken){slot_us, cost};
        } else {
            takt_run run;
            int64_t n = takt_gcra.series(rule, &state, now_us, cost, SLOTS - count,
                                         now_us + 20 * spread_us, &run);
            for (int64_t i = 0; i < n; i++)
                slots[count++] = (taken){takt_run_slot(&run, i), cost};
        }
        if (takt_random_below(random, 50) == 0)
            takt_gcra.exhaust(rule, &state, now_us + takt_random_below(random, spread_us));
    }
    return count;
}

Test(gcra_promise, holds_for_random_rules_and_arrivals)
{
    uint64_t seed = test_seed(1);

    for (uint64_t round = 0, rounds = test_rounds(1500); round < rounds; round++) {
        uint64_t random = seed + round;
        static taken slots[SLOTS];
        takt_rule rule = random_rule(&random);
        int count = take_at_random(&rule, &random, slots);
        int broken = broken_promise(&rule, slots, count);
        cr_assert_eq(broken, -1,
                     "seed %" PRIu64 ": %" PRId64 " per %" PRId64 " us, burst %" PRId64 ", slot %d",
                     seed + round, rule.limit, rule.period_us, rule.burst, broken);
    }
}

/* The check itself: it must see one slot that comes a microsecond early. */
Test(gcra_promise, a_broken_one_is_seen)
{
    static const struct {
        int64_t tokens, period_us, burst, second_us, third_us;
        int broken;
    } rows[] = {
        {1, SECOND, 1, SECOND, 2 * SECOND, -1},
        {1, SECOND, 1, SECOND - 1, 2 * SECOND, 1},
        {1, SECOND, 1, SECOND + 1, 2 * SECOND, 2},
        {3, SECOND, 1, 333334, 666667, -1},
        {3, SECOND, 1, 333332, 666667, 1},
        {3, SECOND, 1, 333334, 666666, 2},
        {1, SECOND, 2, 0, SECOND, -1},
        {1, SECOND, 2, 0, SECOND - 1, 2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule rule = rule_of(rows[i].tokens, rows[i].period_us, rows[i].burst);
        taken slots[] = {{NOW, 1}, {NOW + rows[i].third_us, 1}, {NOW + rows[i].second_us, 1}};
        cr_assert_eq(broken_promise(&rule, slots, 3), rows[i].broken, "row %zu", i);
    }
}

/* The largest arguments must not overflow, and room and due must stay inverses of each other. */
Test(gcra_promise, numbers_at_the_ends_of_the_scale)
{
    static const struct {
        int64_t tokens, period_us, burst, cost;
    } rows[] = {
        {TAKT_RULE_LIMIT_MAX, TAKT_SPAN_MAX_US, TAKT_RULE_LIMIT_MAX, 1000000},
        {TAKT_RULE_LIMIT_MAX - 63, TAKT_SPAN_MAX_US - 1, TAKT_RULE_LIMIT_MAX - 63, 999999},
        {TAKT_RULE_LIMIT_MAX - 63, TAKT_SPAN_MAX_US - 1, 1, 1},
        {TAKT_RULE_LIMIT_MAX, 1, TAKT_RULE_LIMIT_MAX, 1000000},
        {1, TAKT_SPAN_MAX_US, 1, 1},
        {1, 1, TAKT_RULE_LIMIT_MAX, 1000000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule rule = rule_of(rows[i].tokens, rows[i].period_us, rows[i].burst);
        takt_rule_state state = {.pages = NULL};
        takt_run run;
        takt_gcra.rest(&rule, &state, NOW);
        for (int64_t n = 1; n <= TAKT_ROOM_MAX; n *= 10) {
            int64_t due_us = takt_gcra.due(&rule, &state, NOW, n);
            int64_t room = takt_gcra.room(&rule, &state, NOW, due_us);
            cr_assert(due_us >= NOW && due_us <= NOW + 2 * TAKT_SPAN_MAX_US, "row %zu", i);
            cr_assert(room >= n || due_us >= NOW + TAKT_SPAN_MAX_US, "row %zu: %" PRId64, i, room);
        }
        for (int round = 0; round < 5; round++) {
            int64_t slot_us = takt_gcra.earliest(&rule, &state, NOW, rows[i].cost);
            takt_gcra.commit(&rule, &state, slot_us, rows[i].cost);
            cr_assert(slot_us >= NOW && slot_us < INT64_C(1) << 53, "row %zu: %" PRId64, i,
                      slot_us);
            (void)takt_gcra.series(&rule, &state, NOW, rows[i].cost, INT64_MAX / 2, NOW + DAY,
                                   &run);
            takt_gcra.exhaust(&rule, &state, NOW + DAY);
            takt_gcra.pull_back(&rule, &state, NOW, 10 * SECOND, 250 * MS);
        }
        cr_assert_eq(takt_gcra.room(&rule, &state, NOW, NOW - 1), 0);
        cr_assert_leq(takt_gcra.room(&rule, &state, NOW, INT64_C(1) << 53), TAKT_ROOM_MAX);
    }
}
