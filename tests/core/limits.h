/*
 * Rules and limits for tests, and the promise of a GCRA rule as an independent check over a list of
 * slots.
 */
#ifndef TAKT_TESTS_CORE_LIMITS_H
#define TAKT_TESTS_CORE_LIMITS_H

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/limit.h"

#define NOW      INT64_C(1763692800000000)
#define MS       INT64_C(1000)
#define SECOND   INT64_C(1000000)
#define MINUTE   (60 * SECOND)
#define HOUR     (60 * MINUTE)
#define DAY      (24 * HOUR)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

__extension__ typedef __int128 wide;

static inline takt_rule rule_of(int64_t tokens, int64_t period_us, int64_t burst)
{
    takt_rule rule = {
        .algorithm = &takt_gcra, .limit = tokens, .period_us = period_us, .burst = burst};
    takt_error error;
    int status = takt_rule_prepare(&rule, &error);

    cr_assert_eq(status, 0, "%s", error.text);
    return rule;
}

static inline takt_numbers limit_of(int64_t tokens, int64_t period_us, int64_t burst)
{
    takt_numbers limit = {.rule_count = 1, .lookahead_us = TAKT_LOOKAHEAD_US};

    limit.rules[0] = rule_of(tokens, period_us, burst);
    return limit;
}

/* The same rule as a policy writes it. */
static inline takt_limit limit_named(int64_t tokens, int64_t period_us, int64_t burst)
{
    return (takt_limit){.name = "test", .numbers = limit_of(tokens, period_us, burst)};
}

static inline void add_rule(takt_numbers *limit, int64_t tokens, int64_t period_us, int64_t burst)
{
    limit->rules[limit->rule_count++] = rule_of(tokens, period_us, burst);
}

/* One unit of work that was let start. */
typedef struct taken {
    int64_t slot_us;
    int64_t cost;
} taken;

static inline int compare_taken(const void *a, const void *b)
{
    const taken *x = a, *y = b;

    return (x->slot_us > y->slot_us) - (x->slot_us < y->slot_us);
}

/*
 * The promise, for every pair of slots: the tokens from the one to the other are at most burst + d
 * / T, with T = period / limit.  d is the time between the exact instants, which the slots round up
 * to whole microseconds: it is less than one more than the time between the slots, and equal to
 * that where T is a whole number.  Returns the index of the slot that breaks the promise, or -1.
 * Sorts the slots.
 *
 * With S(i) the tokens before slot i, the tokens from i to j exceed the promise when
 *     (S(j+1) - S(i) - burst) * period  >  (t(j) - t(i) + grain) * limit
 * so it is enough to compare S(j+1) * period - t(j) * limit with the least S(i) * period - t(i) *
 * limit so far.
 */
static inline int broken_promise(const takt_rule *rule, taken *slots, int count)
{
    wide period = (wide)rule->period_us * 10000,
         tokens = (wide)rule->limit * (10000 - rule->headroom_bp);
    bool whole = period % tokens == 0;
    wide before = 0, min = 0;

    qsort(slots, (size_t)count, sizeof *slots, compare_taken);
    for (int j = 0; j < count; j++) {
        wide t = slots[j].slot_us - slots[0].slot_us;
        wide start = before * period - t * tokens, excess;
        if (j == 0 || start < min)
            min = start;
        before += slots[j].cost;
        excess = before * period - t * tokens - min - rule->burst * period;
        if (whole ? excess > 0 : excess >= tokens)
            return j;
    }
    return -1;
}

#endif
