/*
 * What holds for every algorithm: which numbers a rule may have, and the slots of a run.
 */
#include <string.h>

#include "core/limits.h"

Test(rule, algorithms_are_found_by_their_names)
{
    cr_assert_eq(takt_algorithm_named("gcra"), &takt_gcra);
    cr_assert_null(takt_algorithm_named("GCRA"));
    cr_assert_null(takt_algorithm_named(""));
    cr_assert_null(takt_algorithm_named("gcr"));
}

Test(rule, numbers_are_checked_and_told)
{
    static const struct {
        int64_t tokens, period_us, burst, headroom_bp;
        const char *field; /* NULL: accepted */
    } rows[] = {
        {1, 1, 0, 0, NULL},
        {TAKT_RULE_LIMIT_MAX, 1, 0, 0, NULL},
        {1, TAKT_SPAN_MAX_US, 0, 0, NULL},
        {TAKT_RULE_LIMIT_MAX, TAKT_SPAN_MAX_US, TAKT_RULE_LIMIT_MAX, 0, NULL},
        {100, SECOND, 10, 200, NULL},
        {0, SECOND, 0, 0, "rate: "},
        {-1, SECOND, 0, 0, "rate: "},
        {TAKT_RULE_LIMIT_MAX + 1, SECOND, 0, 0, "rate: "},
        {1, 0, 0, 0, "rate: "},
        {1, -1, 0, 0, "rate: "},
        {1, TAKT_SPAN_MAX_US + 1, 0, 0, "rate: "},
        {1, SECOND, -1, 0, "burst: "},
        {1, SECOND, TAKT_RULE_LIMIT_MAX + 1, 0, "burst: "},
        {1, SECOND, INT64_MAX, 0, "burst: "},
        {1, DAY, 18250, 0, NULL},      /* fifty years of tokens */
        {1, DAY, 18251, 0, "burst: "}, /* and one more */
        {1, SECOND, 0, -1, "headroom: "},
        {1, SECOND, 0, 10000, "headroom: "},
        {100, SECOND, 0, 9999, NULL},
        {TAKT_RULE_LIMIT_MAX - 1, SECOND, 0, 1, "headroom: "}, /* not exact below 2^53 */
        {1, TAKT_SPAN_MAX_US, 0, 5000, "headroom: "},          /* a token in a hundred years */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule rule = {.algorithm = &takt_gcra,
                          .limit = rows[i].tokens,
                          .period_us = rows[i].period_us,
                          .burst = rows[i].burst,
                          .headroom_bp = rows[i].headroom_bp};
        takt_error error = {0};
        int status = takt_rule_prepare(&rule, &error);
        cr_assert_eq(status, rows[i].field ? TAKT_E_POLICY : 0, "row %zu: %s", i, error.text);
        if (rows[i].field)
            cr_assert_eq(strncmp(error.text, rows[i].field, strlen(rows[i].field)), 0,
                         "row %zu: %s", i, error.text);
        cr_assert_eq(takt_rule_prepare(&rule, NULL), status, "an error need not be asked for");
    }
}

Test(rule, a_guard_is_at_most_half_of_the_period)
{
    static const struct {
        int64_t period_us, guard_us;
        int status;
    } rows[] = {
        {SECOND, 0, 0},
        {SECOND, SECOND / 2, 0},
        {1, 0, 0},
        {SECOND, SECOND / 2 + 1, TAKT_E_POLICY},
        {1, 1, TAKT_E_POLICY},
        {SECOND, -1, TAKT_E_POLICY},
        {TAKT_SPAN_MAX_US, 0, 0},
        {TAKT_SPAN_MAX_US, 1, TAKT_E_POLICY},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int a = 0; takt_algorithm_at(a); a++) {
            takt_rule rule = {.algorithm = takt_algorithm_at(a),
                              .limit = 1,
                              .period_us = rows[i].period_us,
                              .guard_us = rows[i].guard_us};
            takt_error error = {0};
            cr_expect_eq(takt_rule_prepare(&rule, &error), rows[i].status, "row %zu", i);
            cr_expect(rows[i].status == 0 || strncmp(error.text, "guard: ", 7) == 0);
        }
}

Test(rule, emission_intervals_are_exact_fractions)
{
    static const struct {
        int64_t tokens, period_us, headroom_bp, us, parts, kept;
    } rows[] = {
        {100, MINUTE, 0, 600000, 0, 1}, /* 0.6 s, not 1 s */
        {3, SECOND, 0, 333333, 1, 3},     {6, 2 * SECOND, 0, 333333, 1, 3},
        {7, MINUTE, 0, 8571428, 4, 7},    {TAKT_RULE_LIMIT_MAX, 1, 0, 0, 1, TAKT_RULE_LIMIT_MAX},
        {100, SECOND, 200, 10204, 4, 49}, /* 98 a second */
        {1, SECOND, 5000, 2000000, 0, 1}, {1, TAKT_SPAN_MAX_US, 0, TAKT_SPAN_MAX_US, 0, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule rule = {.algorithm = &takt_gcra,
                          .limit = rows[i].tokens,
                          .period_us = rows[i].period_us,
                          .headroom_bp = rows[i].headroom_bp};
        cr_assert_eq(takt_rule_prepare(&rule, NULL), 0);
        cr_assert_eq(rule.interval.us, rows[i].us, "row %zu", i);
        cr_assert_eq(rule.interval.parts, rows[i].parts, "row %zu", i);
        cr_assert_eq(rule.tokens, rows[i].kept, "row %zu", i);
    }
}

Test(rule, slots_of_a_run_are_rounded_up_one_by_one)
{
    static const struct {
        takt_run run;
        int64_t i, slot_us;
    } rows[] = {
        {{{NOW, 0}, {0, 0}, 1, 5, 1, {{0}}, 0}, 4, NOW},
        {{{NOW, 0}, {10, 0}, 1, 5, 1, {{0}}, 0}, 4, NOW + 40},
        {{{NOW, 0}, {333333, 1}, 3, 9, 1, {{0}}, 0}, 1, NOW + 333334},
        {{{NOW, 0}, {333333, 1}, 3, 9, 1, {{0}}, 0}, 2, NOW + 666667},
        {{{NOW, 0}, {333333, 1}, 3, 9, 1, {{0}}, 0}, 3, NOW + SECOND},
        {{{NOW, 2}, {333333, 1}, 3, 9, 1, {{0}}, 0}, 0, NOW + 1},
        {{{NOW, 2}, {333333, 1}, 3, 9, 1, {{0}}, 0}, 1, NOW + 333334},
        {{{NOW, 1}, {0, 999999999}, 1000000000, 1000000000, 1, {{0}}, 0},
         999999999,
         NOW + 999999999},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t slot_us = takt_run_slot(&rows[i].run, rows[i].i);
        cr_assert_eq(slot_us, rows[i].slot_us, "row %zu: %" PRId64, i, slot_us - NOW);
    }
}

Test(rule, divisions_round_the_way_they_say)
{
    static const struct {
        int64_t a, b, down, up;
    } rows[] = {{7, 2, 3, 4},    {-7, 2, -4, -3}, {8, 2, 4, 4},
                {-8, 2, -4, -4}, {0, 5, 0, 0},    {1, INT64_MAX, 0, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_assert_eq(takt_floor_div(rows[i].a, rows[i].b), rows[i].down, "row %zu", i);
        cr_assert_eq(takt_ceil_div(rows[i].a, rows[i].b), rows[i].up, "row %zu", i);
    }
}
