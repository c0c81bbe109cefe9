/*
 * GCRA slot by slot: the published examples, and the closed forms against taking tokens one by one.
 * The promise, and what happens at the ends of the scale, is in test_gcra_promise.c; texts and
 * changed numbers in test_gcra_text.c.
 */
#include "core/limits.h"

static takt_rule_state at_rest(const takt_rule *rule, int64_t now_us)
{
    takt_rule_state state = {.pages = NULL};

    takt_gcra.rest(rule, &state, now_us);
    return state;
}

/* Takes `cost` tokens as soon as may be from t_us on. */
static int64_t take(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost)
{
    int64_t slot_us = takt_gcra.earliest(rule, state, t_us, cost);

    if (slot_us != TAKT_NEVER)
        takt_gcra.commit(rule, state, slot_us, cost);
    return slot_us;
}

typedef struct step {
    int64_t at_us, cost, slot_us; /* all but the cost after NOW */
} step;

static void check_steps(const char *name, takt_rule rule, const step *steps, size_t count)
{
    takt_rule_state state = at_rest(&rule, NOW);

    for (size_t i = 0; i < count; i++) {
        int64_t slot_us = take(&rule, &state, NOW + steps[i].at_us, steps[i].cost) - NOW;
        cr_assert_eq(slot_us, steps[i].slot_us, "%s, step %zu: %" PRId64, name, i, slot_us);
    }
}

#define CHECK(name, rule, ...)                                                                     \
    do {                                                                                           \
        static const step steps[] = {__VA_ARGS__};                                                 \
        check_steps(name, rule, steps, COUNT(steps));                                              \
    } while (0)

Test(gcra, gives_slots_as_published)
{
    CHECK("10 per 60 s, burst 10: ten at once, then one every 6 s", rule_of(10, MINUTE, 10),
          {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0},
          {0, 1, 0}, {0, 1, 0}, {0, 1, 6 * SECOND}, {0, 1, 12 * SECOND},
          {13 * SECOND, 1, 18 * SECOND}, {100 * SECOND, 9, 100 * SECOND},
          {100 * SECOND, 1, 100 * SECOND}, {100 * SECOND, 1, 106 * SECOND});
    CHECK("100 per minute: 0.6 s apart", rule_of(100, MINUTE, 1), {0, 1, 0}, {0, 1, 600 * MS},
          {0, 1, 1200 * MS}, {5 * SECOND, 1, 5 * SECOND}, {5 * SECOND + 1, 1, 5600 * MS});
    CHECK("3 per second: rounded up, never added up", rule_of(3, SECOND, 1), {0, 1, 0},
          {0, 1, 333334}, {0, 1, 666667}, {0, 1, SECOND}, {0, 1, 1333334}, {0, 1, 1666667},
          {0, 1, 2 * SECOND});
    CHECK("costs push the next one further", rule_of(10, SECOND, 5), {0, 3, 0}, {0, 3, 100 * MS},
          {0, 1, 200 * MS}, {0, 5, 700 * MS}, {0, 6, TAKT_NEVER - NOW}, {0, 1, 800 * MS});
    CHECK("silence is not saved beyond the burst", rule_of(1, SECOND, 2), {HOUR, 2, HOUR},
          {HOUR, 1, HOUR + SECOND}, {2 * HOUR, 1, 2 * HOUR}, {2 * HOUR, 1, 2 * HOUR},
          {2 * HOUR, 1, 2 * HOUR + SECOND});
    CHECK("an asker from the past gets the same slot", rule_of(1, SECOND, 1),
          {5 * SECOND, 1, 5 * SECOND}, {0, 1, 6 * SECOND});
    CHECK("a billion a second share their microseconds", rule_of(1000000000, SECOND, 1000),
          {0, 1000, 0}, {0, 1000, 1}, {0, 1, 2}, {0, 999, 2}, {0, 1000, 3});
}

Test(gcra, three_per_second_stay_three_per_second)
{
    takt_rule rule = rule_of(3, SECOND, 1);
    takt_rule_state state = at_rest(&rule, NOW);

    for (int64_t i = 0; i < 300000; i++) {
        int64_t expected_us = NOW + takt_ceil_div(i * SECOND, 3);
        cr_assert_eq(take(&rule, &state, NOW, 1), expected_us, "token %" PRId64, i);
    }
}

/* Both by one series after the other, as an award takes them. */
Test(gcra, a_billion_tokens_end_at_the_right_microsecond)
{
    static const struct {
        int64_t tokens, period_us, cost;
    } rows[] = {{3, SECOND, 1}, {7, SECOND, 1}, {999999937, DAY, 1}, {70, MINUTE, 3}, {1, 100, 1}};
    for (size_t row = 0; row < COUNT(rows); row++) {
        takt_rule rule = rule_of(rows[row].tokens, rows[row].period_us, rows[row].cost);
        takt_rule_state state = at_rest(&rule, NOW);
        int64_t left = 1000000000 / rows[row].cost, done = 0, last_us = 0;
        while (left > 0) {
            takt_run run;
            int64_t n =
                takt_gcra.series(&rule, &state, NOW, rows[row].cost,
                                 left < 123456789 ? left : 123456789, INT64_C(1) << 53, &run);
            cr_assert_gt(n, 0);
            last_us = takt_run_slot(&run, n - 1);
            done += n;
            left -= n;
        }
        wide exact = (wide)(done - 1) * rows[row].cost * rows[row].period_us;
        int64_t expected_us = NOW + (int64_t)((exact + rows[row].tokens - 1) / rows[row].tokens);
        cr_assert_eq(last_us, expected_us, "row %zu: %" PRId64 " too late", row,
                     last_us - expected_us);
    }
}

static const struct {
    int64_t tokens, period_us, burst;
} shapes[] = {{1, SECOND, 1}, {3, SECOND, 1},      {3, SECOND, 7},   {10, MINUTE, 10},
              {7, 11, 5},     {1000, 7, 3},        {13, 1000, 1},    {1000000000, 1, 9},
              {1, DAY, 1},    {999983, SECOND, 4}, {60, MINUTE, 60}, {49, 48 * MS, 17}};

Test(gcra, room_and_due_agree_with_taking_one_by_one)
{
    enum { TOKENS = 60 };
    for (size_t i = 0; i < COUNT(shapes); i++) {
        takt_rule rule = rule_of(shapes[i].tokens, shapes[i].period_us, shapes[i].burst);
        for (int backlog = 0; backlog < 20; backlog += 3) {
            takt_rule_state state = at_rest(&rule, NOW), stepped;
            for (int j = 0; j < backlog; j++)
                take(&rule, &state, NOW, 1);
            stepped = state;
            for (int64_t n = 1; n <= TOKENS; n++) {
                int64_t slot_us = take(&rule, &stepped, NOW + 17, 1);
                int64_t due_us = takt_gcra.due(&rule, &state, NOW + 17, n);
                int64_t room = takt_gcra.room(&rule, &state, NOW + 17, slot_us);
                cr_assert_eq(due_us, slot_us, "shape %zu: token %" PRId64 " is due %" PRId64, i, n,
                             due_us - slot_us);
                cr_assert_geq(room, n, "shape %zu: %" PRId64 " of %" PRId64, i, room, n);
                cr_assert_eq(takt_gcra.due(&rule, &state, NOW + 17, room), slot_us, "shape %zu", i);
                cr_assert_lt(takt_gcra.room(&rule, &state, NOW + 17, slot_us - 1), n, "shape %zu",
                             i);
            }
        }
    }
}

Test(gcra, a_series_is_what_taking_one_by_one_gives)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        takt_rule rule = rule_of(shapes[i].tokens, shapes[i].period_us, shapes[i].burst);
        for (int64_t cost = 1; cost <= shapes[i].burst && cost < 4; cost++) {
            takt_rule_state state = at_rest(&rule, NOW), stepped = state;
            int64_t until_us = NOW + 30 * (rule.interval.us + 1);
            for (int64_t from_us = NOW; from_us <= until_us;) {
                takt_run run;
                int64_t n = takt_gcra.series(&rule, &state, from_us, cost, 11, until_us, &run);
                for (int64_t j = 0; j < n; j++) {
                    int64_t slot_us = take(&rule, &stepped, from_us, cost);
                    cr_assert_eq(takt_run_slot(&run, j), slot_us, "shape %zu: slot %" PRId64, i, j);
                    cr_assert_leq(slot_us, until_us);
                }
                cr_assert_eq(state.gcra.tat.us, stepped.gcra.tat.us);
                cr_assert_eq(state.gcra.tat.parts, stepped.gcra.tat.parts);
                if (n == 0)
                    break;
                cr_assert_eq(run.count, n);
                cr_assert_eq(run.cost, cost);
                from_us += 1 + rule.interval.us / 3;
            }
            cr_assert_gt(takt_gcra.earliest(&rule, &state, NOW, cost), until_us - 1,
                         "shape %zu: it stopped early", i);
        }
    }
}

Test(gcra, a_series_stops_where_it_must)
{
    takt_rule rule = rule_of(10, SECOND, 5);
    takt_rule_state state = at_rest(&rule, NOW);
    takt_run run;

    cr_assert_eq(takt_gcra.series(&rule, &state, NOW, 6, 9, NOW + HOUR, &run), 0,
                 "more than the burst");
    cr_assert_eq(takt_gcra.series(&rule, &state, NOW, 1, 9, NOW - 1, &run), 0, "no time");
    cr_assert_eq(takt_gcra.series(&rule, &state, NOW, 1, 9, NOW, &run), 5,
                 "the burst, all at once");
    cr_assert_eq(run.step.us, 0);
    cr_assert_eq(takt_gcra.series(&rule, &state, NOW, 1, 9, NOW + 100 * MS - 1, &run), 0,
                 "none is due yet");
    cr_assert_eq(takt_gcra.series(&rule, &state, NOW, 1, 9, NOW + 250 * MS, &run), 2);
    cr_assert_eq(takt_run_slot(&run, 0), NOW + 100 * MS);
    cr_assert_eq(takt_run_slot(&run, 1), NOW + 200 * MS);
}

Test(gcra, after_exhaust_the_next_token_is_due_then_and_no_burst_is_left)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        takt_rule rule = rule_of(shapes[i].tokens, shapes[i].period_us, shapes[i].burst);
        takt_rule_state state = at_rest(&rule, NOW), paced;
        takt_gcra.exhaust(&rule, &state, NOW + SECOND);
        paced = state;
        for (int64_t n = 0; n < 20; n++) {
            int64_t expected_us =
                NOW + SECOND + takt_ceil_div(n * shapes[i].period_us, shapes[i].tokens);
            cr_assert_eq(take(&rule, &paced, NOW, 1), expected_us, "shape %zu: token %" PRId64, i,
                         n);
        }
        takt_gcra.exhaust(&rule, &paced, NOW); /* no token is given back */
        cr_assert_geq(takt_gcra.earliest(&rule, &paced, NOW, 1), NOW + SECOND);
    }
}

Test(gcra, is_at_rest_when_the_whole_burst_is_back)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        takt_rule rule = rule_of(shapes[i].tokens, shapes[i].period_us, shapes[i].burst);
        takt_rule_state state = at_rest(&rule, NOW);
        cr_assert_eq(takt_gcra.rest_at(&rule, &state), NOW);
        take(&rule, &state, NOW, shapes[i].burst);
        take(&rule, &state, NOW, 1);
        int64_t rest_us = takt_gcra.rest_at(&rule, &state);
        cr_assert_eq(takt_gcra.earliest(&rule, &state, rest_us, shapes[i].burst), rest_us,
                     "shape %zu", i);
        cr_assert_gt(takt_gcra.earliest(&rule, &state, NOW, shapes[i].burst), rest_us - 1,
                     "shape %zu: too early", i);
    }
}

Test(gcra, a_state_from_another_clock_is_pulled_back_but_never_to_a_burst)
{
    static const struct {
        int64_t ahead_us; /* of the furthest that slots up to now could have put it */
        bool pulled;
    } rows[] = {{-SECOND, false},        {0, false},   {250 * MS, false},     {10 * SECOND, false},
                {10 * SECOND + 1, true}, {HOUR, true}, {50 * 365 * DAY, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule rule = rule_of(10, SECOND, 20);
        takt_rule_state state = {.gcra.tat = {NOW + 2 * SECOND + rows[i].ahead_us, 0}};
        int64_t before_us = takt_gcra.earliest(&rule, &state, NOW, 1);
        takt_gcra.pull_back(&rule, &state, NOW, 10 * SECOND, 250 * MS);
        int64_t after_us = takt_gcra.earliest(&rule, &state, NOW, 1);
        cr_assert_eq(after_us, rows[i].pulled ? NOW + 350 * MS : before_us, "row %zu: %" PRId64, i,
                     after_us - NOW);
    }
}
