/*
 * All rules of a limit at once: every slot suits every rule, runs are what one-by-one gives, and a
 * changed set of rules takes over what the old one remembers.
 */
#include <string.h>

#include "base/random.h"
#include "rules/promises.h"
#include "seed.h"

static takt_numbers four_rules(void)
{
    takt_numbers limit = limit_of(1, SECOND, 1);

    add_rule(&limit, 20, MINUTE, 5);
    add_rule(&limit, 200, HOUR, 30);
    add_rule(&limit, 800, DAY, 100);
    return limit;
}

static takt_rules_state at_rest(const takt_numbers *limit)
{
    takt_rules_state state;

    takt_numbers_begin(&state, NULL);
    takt_numbers_rest(limit, &state, NOW);
    return state;
}

static takt_amounts tokens(int64_t n)
{
    return (takt_amounts){{n, 1}};
}

static int64_t take_one(const takt_numbers *limit, takt_rules_state *state, int64_t t_us,
                        int64_t cost)
{
    int64_t slot_us = takt_numbers_earliest(limit, state, t_us, takt_amounts_of_cost(cost));

    if (slot_us != TAKT_NEVER)
        takt_numbers_commit(limit, state, slot_us, takt_amounts_of_cost(cost));
    return slot_us;
}

static void check_promises(const takt_numbers *limit, taken *slots, int count)
{
    for (int i = 0; i < limit->rule_count; i++) {
        int broken = broken_promise(&limit->rules[i], slots, count);
        cr_assert_eq(broken, -1, "rule %d is broken by slot %d", i, broken);
    }
}

Test(limit, four_rules_hold_at_once)
{
    enum { SLOTS = 2000 };
    static taken slots[SLOTS];
    takt_numbers limit = four_rules();
    takt_rules_state state = at_rest(&limit);

    for (int i = 0; i < SLOTS; i++) {
        slots[i] = (taken){take_one(&limit, &state, NOW, 1), 1};
        if (i > 0)
            cr_assert_geq(slots[i].slot_us, slots[i - 1].slot_us + SECOND, "1/s");
    }
    check_promises(&limit, slots, SLOTS);
    /* the first 100 go as fast as the shorter rules let them, then 800 a day */
    cr_assert_eq(slots[4].slot_us, NOW + 4 * SECOND);
    cr_assert_eq(slots[SLOTS - 1].slot_us - NOW, (SLOTS - 100) * (DAY / 800));
}

/* The same periods, each kept by another algorithm. */
static takt_numbers four_algorithms(void)
{
    takt_numbers limit = {.rule_count = 4, .lookahead_us = TAKT_LOOKAHEAD_US};

    limit.rules[0] = rule_by(&takt_sliding_window, 2, SECOND);
    limit.rules[1] = rule_by(&takt_sliding_log, 20, MINUTE);
    limit.rules[2] = rule_by(&takt_fixed_window, 200, HOUR);
    limit.rules[3] = rule_by(&takt_token_bucket, 800, DAY);
    return limit;
}

static void check_none_earlier(const takt_numbers *limit, uint64_t seed)
{
    int64_t now_us = NOW;
    takt_memory_pages pages;
    takt_rules_state state;

    takt_memory_pages_init(&pages);
    takt_numbers_begin(&state, &pages.pages);
    takt_numbers_rest(limit, &state, NOW);
    for (int i = 0; i < 500; i++) {
        bool one_moment_before = true, then = true;
        now_us += takt_random_below(&seed, 4) ? 0 : takt_random_below(&seed, 10 * MINUTE);
        int64_t slot_us = takt_numbers_earliest(limit, &state, now_us, takt_amounts_of_cost(1));
        for (int j = 0; j < limit->rule_count; j++) {
            const takt_rule *rule = &limit->rules[j];
            one_moment_before &=
                rule->algorithm->earliest(rule, &state.rules[j], slot_us - 1, 1) == slot_us - 1;
            then &= rule->algorithm->earliest(rule, &state.rules[j], slot_us, 1) == slot_us;
        }
        cr_assert(then, "slot %d", i);
        cr_assert(slot_us == now_us || !one_moment_before, "slot %d", i);
        takt_numbers_commit(limit, &state, slot_us, takt_amounts_of_cost(1));
        takt_memory_pages_end(&pages, true);
    }
    takt_memory_pages_close(&pages);
}

Test(limit, no_slot_could_have_been_earlier)
{
    takt_numbers limits[] = {four_rules(), four_algorithms()};
    uint64_t seed = test_seed(1);

    check_none_earlier(&limits[0], seed);
    check_none_earlier(&limits[1], seed);
}

static takt_numbers random_limit(uint64_t *random)
{
    takt_numbers limit = {.lookahead_us = TAKT_LOOKAHEAD_US};
    int count = 1 + (int)takt_random_below(random, 4);

    for (int64_t period_us = 10 * MS; limit.rule_count < count; period_us *= 10)
        add_rule(&limit, 1 + takt_random_below(random, 50), period_us,
                 1 + takt_random_below(random, 20));
    return limit;
}

/* The slots of take()'s runs, in their order. */
static int unfold(const takt_run *runs, int run_count, taken *slots)
{
    int count = 0;

    for (int i = 0; i < run_count; i++)
        for (int64_t j = 0; j < runs[i].count; j++)
            slots[count++] = (taken){takt_run_slot(&runs[i], j), runs[i].cost};
    return count;
}

Test(limit, taking_many_is_taking_one_by_one)
{
    enum { MANY = 150 };
    static taken slots[2 * MANY];
    uint64_t seed = test_seed(1);

    for (uint64_t round = 0, rounds = test_rounds(600); round < rounds; round++) {
        uint64_t random = seed + round;
        takt_numbers limit = random_limit(&random);
        takt_rules_state state = at_rest(&limit), stepped = state;
        takt_run runs[8];
        int run_count = 0, at = 0;
        for (int part = 0; part < 2; part++) {
            int64_t cost = 1 + takt_random_below(
                                   &random, takt_numbers_capacity(&limit, TAKT_UNIT_TOKENS, NULL));
            int64_t until_us = NOW + takt_random_below(&random, 20 * SECOND);
            int64_t n = takt_numbers_take(&limit, &state, NOW, cost, TAKT_NO_MORE, MANY, until_us,
                                          runs, &run_count, 8);
            cr_assert(n == MANY || run_count == 8 ||
                          takt_numbers_earliest(&limit, &state, NOW, takt_amounts_of_cost(cost)) >
                              until_us,
                      "seed %" PRIu64 ": %" PRId64 " taken, and there was more", seed + round, n);
            cr_assert_eq(unfold(runs, run_count, slots), at + n);
            for (; n > 0; n--, at++) {
                cr_assert_eq(slots[at].slot_us, take_one(&limit, &stepped, NOW, cost),
                             "seed %" PRIu64 ": slot %d", seed + round, at);
                cr_assert_eq(slots[at].cost, cost);
                cr_assert_leq(slots[at].slot_us, until_us);
            }
        }
        check_promises(&limit, slots, at);
    }
}

/* One rule alone gives its burst as a run, then all the rest as another. */
Test(limit, an_even_row_is_one_run)
{
    static const struct {
        int64_t count, until_us;
        int rules, runs;
        int64_t taken;
    } rows[] = {{10, 10 * SECOND, 1, 2, 10}, {10, 10 * SECOND, 4, 2, 8}, {10, 4 * SECOND, 4, 1, 5},
                {10, -1, 4, 0, 0},           {0, 10 * SECOND, 4, 0, 0},  {5, 0, 4, 1, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_numbers limit = four_rules();
        limit.rule_count = rows[i].rules;
        takt_rules_state state = at_rest(&limit);
        takt_run runs[4];
        int run_count = 0;
        int64_t n = takt_numbers_take(&limit, &state, NOW, 1, TAKT_NO_MORE, rows[i].count,
                                      NOW + rows[i].until_us, runs, &run_count, 4);
        cr_assert_eq(run_count, rows[i].runs, "row %zu: %d runs", i, run_count);
        cr_assert_eq(n, rows[i].taken, "row %zu: %" PRId64 " taken", i, n);
    }
}

Test(limit, takes_nothing_that_no_run_could_tell_of)
{
    for (int rules = 1; rules <= 4; rules += 3) {
        takt_numbers limit = four_rules();
        limit.rule_count = rules;
        takt_rules_state state = at_rest(&limit);
        int run_count = 0;
        cr_assert_eq(takt_numbers_take(&limit, &state, NOW, 1, TAKT_NO_MORE, 5, NOW + DAY, NULL,
                                       &run_count, 0),
                     0);
        cr_assert_eq(takt_numbers_earliest(&limit, &state, NOW, takt_amounts_of_cost(1)), NOW);
    }
}

/* Of several rules together each bounds the room from above and the due time from below; one alone
 * is exact. */
Test(limit, room_and_due_never_promise_too_little)
{
    uint64_t seed = test_seed(1);

    for (uint64_t round = 0, rounds = test_rounds(300); round < rounds; round++) {
        uint64_t random = seed + round;
        takt_numbers limit = random_limit(&random);
        takt_rules_state state = at_rest(&limit), stepped;
        for (int64_t used = takt_random_below(&random, 30); used > 0; used--)
            take_one(&limit, &state, NOW, 1);
        stepped = state;
        for (int64_t n = 1; n < 60; n++) {
            int64_t slot_us = take_one(&limit, &stepped, NOW, 1);
            int64_t due_us = takt_numbers_due(&limit, &state, NOW, tokens(n));
            int64_t room = takt_numbers_room(&limit, &state, NOW, slot_us).of[TAKT_UNIT_TOKENS];
            cr_assert_leq(due_us, slot_us, "seed %" PRIu64, seed + round);
            cr_assert_geq(room, n, "seed %" PRIu64, seed + round);
            if (limit.rule_count == 1 || n == 1)
                cr_assert_eq(due_us, slot_us, "seed %" PRIu64, seed + round);
        }
        int64_t first_us = takt_numbers_due(&limit, &state, NOW, tokens(1));
        cr_assert_eq(takt_numbers_room(&limit, &state, NOW, first_us - 1).of[TAKT_UNIT_TOKENS], 0);
    }
}

Test(limit, more_tokens_than_a_room_can_have_are_due_at_the_end_of_it)
{
    takt_numbers limit = limit_of(TAKT_RULE_LIMIT_MAX - 63, DAY, 1);
    takt_rules_state state = at_rest(&limit);

    cr_assert_eq(takt_numbers_due(&limit, &state, NOW, tokens(INT64_MAX)),
                 takt_numbers_due(&limit, &state, NOW, tokens(TAKT_ROOM_MAX)));
}

Test(limit, capacity_is_the_smallest_burst)
{
    static const struct {
        int64_t bursts[3], capacity;
        int rule;
    } rows[] = {{{1, 5, 9}, 1, 0}, {{7, 5, 9}, 5, 1}, {{7, 5, 5}, 5, 1}, {{10, 20, 3}, 3, 2}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_numbers limit = limit_of(1, SECOND, rows[i].bursts[0]);
        int rule = -1;
        add_rule(&limit, 10, MINUTE, rows[i].bursts[1]);
        add_rule(&limit, 100, HOUR, rows[i].bursts[2]);
        cr_assert_eq(takt_numbers_capacity(&limit, TAKT_UNIT_TOKENS, &rule), rows[i].capacity,
                     "row %zu", i);
        cr_assert_eq(rule, rows[i].rule, "row %zu", i);
        takt_rules_state state = at_rest(&limit);
        cr_assert_eq(
            takt_numbers_earliest(&limit, &state, NOW, takt_amounts_of_cost(rows[i].capacity)),
            NOW);
        cr_assert_eq(
            takt_numbers_earliest(&limit, &state, NOW, takt_amounts_of_cost(rows[i].capacity + 1)),
            TAKT_NEVER);
    }
}

Test(limit, throughput_is_that_of_the_slowest_rule)
{
    static const struct {
        int64_t span_us, tokens;
    } rows[] = {{SECOND - 1, 0}, {3 * SECOND, 1}, {MINUTE, 3},
                {HOUR, 33},      {DAY, 800},      {TAKT_SPAN_MAX_US, 14600000}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_numbers limit = four_rules();
        if (i == 1 || i == 2)
            limit.rule_count = 2; /* 20 a minute */
        int64_t expected = i == 1 ? 1 : i == 2 ? 20 : rows[i].tokens;
        cr_assert_eq(takt_amounts_least(takt_numbers_throughput(&limit, NULL, rows[i].span_us)),
                     expected, "row %zu", i);
    }
    takt_numbers headroom = limit_of(100, SECOND, 1);
    headroom.rules[0].headroom_bp = 200;
    takt_rule_prepare(&headroom.rules[0], NULL);
    cr_assert_eq(takt_amounts_least(takt_numbers_throughput(&headroom, NULL, 10 * SECOND)), 980);
    takt_numbers fastest = limit_of(TAKT_RULE_LIMIT_MAX, 1, 1);
    cr_assert_eq(takt_amounts_least(takt_numbers_throughput(&fastest, NULL, TAKT_SPAN_MAX_US)),
                 TAKT_ROOM_MAX);
}

Test(limit, exhaust_and_rest_concern_every_rule)
{
    takt_numbers limit = four_rules();
    takt_rules_state state = at_rest(&limit);

    cr_assert_eq(takt_numbers_rest_at(&limit, &state), NOW);
    takt_numbers_exhaust(&limit, &state, NOW + SECOND);
    cr_assert_eq(take_one(&limit, &state, NOW, 1), NOW + SECOND);
    cr_assert_eq(take_one(&limit, &state, NOW, 1), NOW + SECOND + DAY / 800);
    cr_assert_eq(takt_numbers_rest_at(&limit, &state), NOW + SECOND + 101 * (DAY / 800));
}

/* Which old rule each new one takes over from, seen by when its next token is due. */
Test(limit, changed_rules_take_over_from_old_ones)
{
    static const struct {
        int64_t before[3], after[3]; /* tokens a day, burst 1, all just used; 0: no further rule */
        int64_t next_us;             /* after NOW, when the next token is due */
    } rows[] = {
        {{24}, {24}, HOUR},
        {{24}, {48}, HOUR / 2},
        {{24, 48}, {48}, HOUR / 2}, /* a rule was taken out */
        {{24, 48}, {48, 24}, HOUR}, /* they were exchanged */
        {{24}, {24, 1440}, HOUR},   /* a new one at the end */
        {{24}, {1440, 24}, HOUR},   /* or before the one that is kept */
        {{24, 1440}, {48, 1440}, HOUR / 2},
        {{24, 48, 96}, {96, 12, 48}, 2 * HOUR}, /* two are kept, one is new */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_numbers from = {.rule_count = 0}, to = {.rule_count = 0};
        for (int j = 0; j < 3 && rows[i].before[j]; j++)
            add_rule(&from, rows[i].before[j], DAY, 1);
        for (int j = 0; j < 3 && rows[i].after[j]; j++)
            add_rule(&to, rows[i].after[j], DAY, 1);
        takt_rules_state state = at_rest(&from);
        takt_numbers_commit(&from, &state, NOW, takt_amounts_of_cost(1));
        takt_numbers_convert(&from, &to, &state, NOW);
        int64_t next_us = takt_numbers_earliest(&to, &state, NOW, takt_amounts_of_cost(1)) - NOW;
        cr_assert_eq(next_us, rows[i].next_us, "row %zu: %" PRId64, i, next_us);
    }
}
