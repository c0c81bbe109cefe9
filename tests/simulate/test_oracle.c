/*
 * What the oracle decides: by tables of arrivals and decisions, and, where the order is first come,
 * first served, the slots that a worker without distance to its store is given in production.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "limits.h"
#include "seed.h"
#include "simulate/fleet.h"

#define MS     INT64_C(1000)
#define SECOND INT64_C(1000000)
#define ANY    (-1) /* waits as long as it takes */
#define MAX    64
#define NONE                                                                                       \
    {                                                                                              \
        {                                                                                          \
            0, 0                                                                                   \
        }                                                                                          \
    } /* amounts */

typedef struct outcome {
    takt_decision decisions[MAX];
    int count;
} outcome;

static void keep(const takt_decision *decision, void *data)
{
    outcome *told = data;

    cr_assert_lt(told->count, MAX);
    told->decisions[told->count++] = *decision;
}

typedef struct expected {
    takt_arrival arrival;
    int64_t slot_us, remaining, retry_after_us,
        reset_after_us; /* slot -1: refused; retry -1: never */
} expected;

static void check(const takt_rule_text *rules, const char *max_waiting, bool try_only,
                  const expected *rows, int count)
{
    test_policy made = make_limit(rules, max_waiting);
    outcome told = {0};
    takt_oracle *oracle;

    cr_assert_eq(takt_oracle_open(&oracle, made.limit, 1000 * SECOND, try_only, keep, &told), 0);
    for (int i = 0; i < count; i++)
        cr_assert_eq(takt_oracle_arrive(oracle, &rows[i].arrival), 0, "arrival %d", i);
    takt_oracle_end(oracle);
    cr_assert_eq(told.count, count);
    for (int i = 0; i < count; i++) {
        const takt_decision *decision = &told.decisions[i];
        cr_expect_eq(decision->arrival.at_us, rows[i].arrival.at_us, "row %d comes in its turn", i);
        cr_expect_eq(decision->granted, rows[i].slot_us >= 0, "row %d granted", i);
        cr_expect_eq(decision->slot_us, rows[i].slot_us, "row %d slot %lld", i,
                     (long long)decision->slot_us);
        cr_expect_eq(decision->remaining, rows[i].remaining, "row %d remaining %lld", i,
                     (long long)decision->remaining);
        cr_expect_eq(decision->retry_after_us, rows[i].retry_after_us, "row %d retry %lld", i,
                     (long long)decision->retry_after_us);
        cr_expect_eq(decision->reset_after_us, rows[i].reset_after_us, "row %d reset %lld", i,
                     (long long)decision->reset_after_us);
    }
    takt_oracle_close(oracle);
    takt_policy_free(made.policy);
}

#define CHECK(rules, max_waiting, try_only, rows)                                                  \
    check(rules, max_waiting, try_only, rows, sizeof rows / sizeof *rows)

static const takt_rule_text one_per_second[] = {{.rate = "1/s", .burst = "5"}, {0}};

Test(oracle, tells_how_the_ledger_stands_at_each_decision)
{
    static const expected rows[] = {
        {{7500 * MS, 3, 5, ANY, NONE}, 7500 * MS, 2, 0, 3 * SECOND},
        {{9500 * MS, 2, 5, ANY, NONE}, 9500 * MS, 2, 0, 3 * SECOND},
        {{9500 * MS, 0, 5, ANY, NONE}, 9500 * MS, 2, 0, 3 * SECOND}, /* looks */
        {{9500 * MS, 4, 5, ANY, NONE},
         11500 * MS,
         0,
         0,
         5 * SECOND}, /* waits, and is decided at its slot */
        {{10000 * MS, 1, 5, ANY, NONE}, 12500 * MS, 0, 0, 5 * SECOND},
        {{10000 * MS, 0, 5, ANY, NONE},
         10000 * MS,
         2,
         0,
         2500 * MS}, /* waiters have taken no tokens yet */
        {{13000 * MS, 6, 5, ANY, NONE}, -1, 0, -1, 4500 * MS}, /* more than can ever be */
    };

    CHECK(one_per_second, NULL, false, rows);
}

Test(oracle, try_grants_now_or_refuses_uncharged)
{
    static const expected rows[] = {
        {{0, 4, 5, ANY, NONE}, 0, 1, 0, 4 * SECOND},
        {{0, 2, 5, ANY, NONE}, -1, 1, 1 * SECOND, 4 * SECOND},
        {{0, 1, 5, 9 * SECOND, NONE}, 0, 0, 0, 5 * SECOND},
        {{1, 1, 0, 9 * SECOND, NONE},
         -1,
         0,
         SECOND - 1,
         5 * SECOND - 1}, /* neither priority nor patience helps */
        {{1, 0, 0, ANY, NONE}, 1, 0, 0, 5 * SECOND - 1},
        {{SECOND, 1, 5, ANY, NONE}, SECOND, 0, 0, 5 * SECOND},
        {{SECOND, 6, 5, ANY, NONE}, -1, 0, -1, 5 * SECOND},
    };

    CHECK(one_per_second, NULL, true, rows);
}

Test(oracle, priority_goes_first_then_arrival)
{
    static const takt_rule_text rules[] = {{.rate = "1/s"}, {0}};
    static const expected rows[] = {
        {{0, 1, 5, ANY, NONE}, 2 * SECOND, 0, 0, SECOND}, /* those of one moment arrive together */
        {{0, 1, 5, ANY, NONE}, 3 * SECOND, 0, 0, SECOND},
        {{0, 1, 0, ANY, NONE}, 0, 0, 0, SECOND},
        {{1 * SECOND, 1, 9, ANY, NONE}, 5 * SECOND, 0, 0, SECOND},
        {{1 * SECOND, 1, 0, ANY, NONE},
         1 * SECOND,
         0,
         0,
         SECOND}, /* at the moment at which the next would have started */
        {{3 * SECOND + 1, 1, 3, ANY, NONE}, 4 * SECOND, 0, 0, SECOND},
    };

    CHECK(rules, NULL, false, rows);
}

Test(oracle, refuses_at_once_who_cannot_be_served_in_time)
{
    static const takt_rule_text rules[] = {{.rate = "1/s"}, {0}};
    static const expected rows[] = {
        {{0, 1, 5, 0, NONE}, 0, 0, 0, SECOND},
        {{0, 1, 5, 0, NONE}, -1, 0, SECOND, SECOND},
        {{0, 1, 5, ANY, NONE}, 1 * SECOND, 0, 0, SECOND},
        {{0, 1, 5, 1999 * MS, NONE}, -1, 0, 2 * SECOND, SECOND}, /* behind the one that waits */
        {{0, 1, 5, 2000 * MS, NONE}, 2 * SECOND, 0, 0, SECOND},  /* just in time */
        {{500 * MS, 1, 0, 1 * SECOND, NONE}, 1 * SECOND + 500 * MS - 500 * MS, 0, 0, SECOND},
    };

    /* the last one goes before two that waited already: one becomes later, the other is refused
     * then */
    expected changed[sizeof rows / sizeof *rows];
    memcpy(changed, rows, sizeof rows);
    changed[2].slot_us = 2 * SECOND;
    changed[4] = (expected){rows[4].arrival, -1, 0, 2500 * MS, 500 * MS};
    CHECK(rules, NULL, false, changed);
}

Test(oracle, refuses_whom_the_line_has_no_room_for)
{
    static const takt_rule_text rules[] = {{.rate = "1/s"}, {0}};
    static const expected rows[] = {
        {{0, 1, 5, ANY, NONE}, 0, 0, 0, SECOND},
        {{0, 1, 5, ANY, NONE}, 1 * SECOND, 0, 0, SECOND},
        {{0, 1, 5, ANY, NONE}, 3 * SECOND, 0, 0, SECOND},
        {{0, 1, 5, ANY, NONE}, -1, 0, 3 * SECOND, SECOND},
        {{0, 1, 5, ANY, NONE},
         -1,
         0,
         3 * SECOND,
         SECOND}, /* as if the one before had not been there */
        {{1 * SECOND, 1, 0, ANY, NONE}, 1 * SECOND, 0, 0, SECOND},
        {{1 * SECOND, 1, 9, ANY, NONE}, -1, 0, 3 * SECOND, SECOND},
    };
    expected changed[sizeof rows / sizeof *rows];

    memcpy(changed, rows, sizeof rows);
    changed[1].slot_us = 2 * SECOND; /* the urgent one takes its slot, and the line is full again */
    CHECK(rules, "2", false, changed);
}

Test(oracle, drops_the_oldest_where_the_limit_says_so)
{
    static const takt_rule_text rules[] = {{.rate = "1/s"}, {0}};
    static const takt_arrival arrivals[] = {{0, 1, 5, ANY, NONE},
                                            {0, 1, 5, ANY, NONE},
                                            {0, 1, 5, ANY, NONE},
                                            {100 * MS, 1, 5, ANY, NONE},
                                            {200 * MS, 1, 0, ANY, NONE}};
    static const int64_t slots_us[] = {0, -1, -1, 2 * SECOND, SECOND};
    takt_limit_text text = {.name = "limit",
                            .rules = rules,
                            .rule_count = 1,
                            .max_waiting = "2",
                            .when_full = "drop-oldest"};
    test_policy made = make_limit_of(&text);
    outcome told = {0};
    takt_oracle *oracle;

    cr_assert_eq(takt_oracle_open(&oracle, made.limit, 1000 * SECOND, false, keep, &told), 0);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(takt_oracle_arrive(oracle, &arrivals[i]), 0);
    takt_oracle_end(oracle);
    for (int i = 0; i < 5; i++)
        cr_expect_eq(told.decisions[i].slot_us, slots_us[i], "row %d: %lld", i,
                     (long long)told.decisions[i].slot_us);
    cr_assert_eq(told.decisions[1].retry_after_us, 2900 * MS, "behind those who stay");
    takt_oracle_close(oracle);
    takt_policy_free(made.policy);
}

Test(oracle, all_rules_hold_at_once)
{
    static const takt_rule_text rules[] = {{.rate = "1/s"}, {.rate = "3/min", .burst = "3"}, {0}};
    static const expected rows[] = {
        {{0, 1, 5, ANY, NONE}, 0, 0, 0, 20 * SECOND},
        {{0, 1, 5, ANY, NONE}, 1 * SECOND, 0, 0, 39 * SECOND},
        {{0, 1, 5, ANY, NONE}, 2 * SECOND, 0, 0, 58 * SECOND},
        {{0, 1, 5, ANY, NONE}, 20 * SECOND, 0, 0, 60 * SECOND},
    };

    CHECK(rules, NULL, false, rows);
}

Test(oracle, refuses_what_cannot_be)
{
    test_policy made = make_limit(one_per_second, NULL), held = make_permits("1", NULL);
    static const takt_arrival wrong[] = {
        {-1, 1, 5, ANY, NONE},          {2 * SECOND - 1, 1, 5, ANY, NONE},
        {2 * SECOND, -1, 5, ANY, NONE}, {2 * SECOND, 1000001, 5, ANY, NONE},
        {2 * SECOND, 1, 10, ANY, NONE}, {2 * SECOND, 1, -1, ANY, NONE},
        {2 * SECOND, 1, 5, -2, NONE},
    };
    outcome told = {0};
    takt_oracle *oracle;

    cr_expect_eq(takt_oracle_open(&oracle, NULL, 0, 0, keep, &told), TAKT_E_INVALID);
    cr_expect_eq(takt_oracle_open(&oracle, made.limit, -1, 0, keep, &told), TAKT_E_INVALID);
    cr_expect_eq(takt_oracle_open(&oracle, held.limit, 0, 0, keep, &told), TAKT_E_INVALID,
                 "nobody tells when a job ends");
    takt_policy_free(held.policy);
    cr_assert_eq(takt_oracle_open(&oracle, made.limit, 0, 0, keep, &told), 0);
    cr_expect_eq(takt_oracle_arrive(oracle, &(takt_arrival){2 * SECOND, 5, 5, ANY, NONE}), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_eq(takt_oracle_arrive(oracle, &wrong[i]), TAKT_E_INVALID, "row %zu", i);
    cr_expect_eq(takt_oracle_arrive(oracle, &(takt_arrival){2 * SECOND, 1, 5, ANY, NONE}), 0);
    takt_oracle_close(oracle); /* with one that waits */
    takt_oracle_close(NULL);
    takt_policy_free(made.policy);
}

/* ---- production ------------------------------------------------------------------------------ */

#define ARRIVALS 2000

typedef struct visitor {
    takt_permit permit;
    takt_fleet_worker *worker;
    int64_t slot_us;
} visitor;

typedef struct slot_list {
    int64_t slot_us[ARRIVALS];
    int count;
} slot_list;

static void keep_slot(const takt_decision *decision, void *data)
{
    slot_list *kept = data;

    kept->slot_us[kept->count++] = decision->slot_us;
}

static void on_permit(takt_permit *permit, int status)
{
    visitor *visiting = permit->data;

    cr_assert_eq(status, 0);
    visiting->slot_us = permit->slot_at_us;
}

static void arrives(takt_fleet *fleet, void *data)
{
    visitor *visiting = data;

    (void)fleet;
    takt_fleet_acquire(visiting->worker, 0, &visiting->permit, 0);
}

/* Arrivals that now and then crowd, now and then leave pauses. */
static void draw(uint64_t *random, takt_arrival *arrivals, int32_t cost_max)
{
    int64_t at_us = 0, pause_us = SECOND;

    for (int i = 0; i < ARRIVALS; i++) {
        if (takt_random_below(random, 50) == 0)
            pause_us = takt_random_below(random, 3) == 0 ? 2 * SECOND
                                                         : 1 + takt_random_below(random, 50000);
        at_us += takt_random_below(random, pause_us);
        arrivals[i] =
            (takt_arrival){at_us, 1 + (int32_t)takt_random_below(random, cost_max), 5, ANY, NONE};
    }
}

static void compare(const takt_limit *limit, uint64_t *random)
{
    int32_t cost_max = takt_numbers_capacity(&limit->numbers, TAKT_UNIT_TOKENS, NULL) >= 3 ? 3 : 1;
    static takt_arrival arrivals[ARRIVALS];
    static visitor visitors[ARRIVALS];
    static slot_list exact;
    int64_t start_us = 1000 * SECOND;
    takt_oracle *oracle;
    takt_fleet fleet;
    int wrong = 0;

    draw(random, arrivals, cost_max);
    exact.count = 0;
    cr_assert_eq(takt_oracle_open(&oracle, limit, start_us, 0, keep_slot, &exact), 0);
    for (int i = 0; i < ARRIVALS; i++)
        cr_assert_eq(takt_oracle_arrive(oracle, &arrivals[i]), 0);
    takt_oracle_end(oracle);
    takt_oracle_close(oracle);
    cr_assert_eq(takt_fleet_open(&fleet, limit, 1, start_us, takt_random(random)), 0);
    fleet.delay_min_us = fleet.delay_max_us = 0;
    for (int i = 0; i < ARRIVALS; i++) {
        visitors[i] = (visitor){.worker = &fleet.workers[0], .slot_us = -1};
        visitors[i].permit.data = &visitors[i];
        visitors[i].permit.callback = on_permit;
        visitors[i].permit.cost = arrivals[i].cost;
        visitors[i].permit.priority = 5;
        takt_fleet_at(&fleet, start_us + arrivals[i].at_us, arrives, &visitors[i]);
    }
    takt_fleet_run(&fleet, start_us + 100000 * SECOND);
    for (int i = 0; i < ARRIVALS; i++)
        wrong += visitors[i].slot_us != start_us + exact.slot_us[i];
    cr_expect_eq(wrong, 0, "%d of %d slots are wrong under %s", wrong, ARRIVALS,
                 limit->numbers.rules[0].algorithm->name);
    takt_fleet_close(&fleet);
}

/* A limit of rules that are alike but for their algorithm, as core has them. */
static takt_limit limit_named(const char *const *algorithms, const takt_rule *numbers, int count)
{
    takt_limit limit = {
        .name = "limit", .numbers.rule_count = count, .numbers.lookahead_us = 250 * MS};

    for (int i = 0; i < count; i++) {
        limit.numbers.rules[i] = numbers[i];
        limit.numbers.rules[i].algorithm = takt_algorithm_named(algorithms[i]);
        if (!(limit.numbers.rules[i].algorithm->takes & TAKT_TAKES_BURST))
            limit.numbers.rules[i].burst = 0;
        cr_assert_eq(takt_rule_prepare(&limit.numbers.rules[i], NULL), 0);
    }
    return limit;
}

static const char *const algorithms[] = {"gcra",         "token-bucket",   "leaky-bucket",
                                         "fixed-window", "sliding-window", "sliding-log"};
#define ALGORITHMS (sizeof algorithms / sizeof *algorithms)

Test(oracle, gives_the_slots_that_production_gives)
{
    static const takt_rule numbers[] = {{.limit = 20, .period_us = SECOND},
                                        {.limit = 3, .period_us = SECOND, .burst = 10},
                                        {.limit = 700, .period_us = 60 * SECOND, .burst = 30}};
    uint64_t random = test_seed(3);

    for (size_t i = 0; i < ALGORITHMS; i++)
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
            takt_limit limit = limit_named(&algorithms[i], &numbers[j], 1);
            compare(&limit, &random);
        }
}

Test(oracle, gives_the_slots_that_production_gives_under_two_rules)
{
    static const takt_rule numbers[] = {{.limit = 7, .period_us = SECOND, .burst = 4},
                                        {.limit = 100, .period_us = 60 * SECOND, .burst = 50}};
    uint64_t random = test_seed(4);

    for (size_t i = 0; i < ALGORITHMS; i++)
        for (size_t j = 0; j < ALGORITHMS; j++) {
            const char *const both[] = {algorithms[i], algorithms[j]};
            takt_limit limit = limit_named(both, numbers, 2);
            compare(&limit, &random);
        }
}

/* ---- patience, and room in the line ---------------------------------------------------------- */

typedef struct verdicts {
    takt_decision decisions[ARRIVALS];
    int count;
} verdicts;

static void keep_verdict(const takt_decision *decision, void *data)
{
    verdicts *kept = data;

    kept->decisions[kept->count++] = *decision;
}

/* Gives a limit two units, and its arrivals amounts of both. */
static void draw_amounts(takt_limit *limit, uint64_t *random, takt_arrival *arrivals)
{
    strcpy(limit->unit, "a");
    strcpy(limit->more_units[0], "b");
    for (int i = 0; i < ARRIVALS; i++) {
        arrivals[i].amounts[0] = (takt_amount){"a", 1 + takt_random_below(random, 3)};
        arrivals[i].amounts[1] = (takt_amount){"b", 1 + takt_random_below(random, 30)};
    }
}

static takt_amounts taken_by(const takt_arrival *arrival)
{
    return takt_amounts_of(arrival->amounts[0].unit ? arrival->amounts[0].amount : arrival->cost,
                           (takt_more){{(int32_t)arrival->amounts[1].amount}});
}

/* What first come, first served means, said with a state that takes every slot when it is asked
 * for. */
static void check_patience(takt_limit *limit, uint64_t *random)
{
    static takt_arrival arrivals[ARRIVALS];
    static verdicts told;
    takt_memory_pages pages;
    takt_rules_state state;
    takt_oracle *oracle;
    int64_t slots[ARRIVALS], last_us = 0;
    int granted = 0, started = 0, wrong = 0;

    draw(random, arrivals, 1);
    if (takt_numbers_count_more(&limit->numbers))
        draw_amounts(limit, random, arrivals);
    limit->numbers.max_waiting = 30;
    told.count = 0;
    cr_assert_eq(takt_oracle_open(&oracle, limit, 0, 0, keep_verdict, &told), 0);
    for (int i = 0; i < ARRIVALS; i++) {
        arrivals[i].at_us += i; /* no two at one moment */
        arrivals[i].max_wait_us =
            takt_random_below(random, 4) == 0 ? ANY : takt_random_below(random, 3 * SECOND);
        cr_assert_eq(takt_oracle_arrive(oracle, &arrivals[i]), 0);
    }
    cr_assert_eq(takt_oracle_end(oracle), 0);
    takt_oracle_close(oracle);
    takt_memory_pages_init(&pages);
    takt_numbers_begin(&state, &pages.pages);
    takt_numbers_rest(&limit->numbers, &state, 0);
    for (int i = 0; i < ARRIVALS; i++) {
        const takt_decision *decision = &told.decisions[i];
        int64_t at_us = arrivals[i].at_us, max_us = arrivals[i].max_wait_us;
        int64_t slot_us = takt_numbers_earliest(
            &limit->numbers, &state, at_us > last_us ? at_us : last_us, taken_by(&arrivals[i]));
        bool refused = max_us >= 0 && slot_us > at_us + max_us;
        while (started < granted && slots[started] <= at_us)
            started++;
        refused = refused || (slot_us > at_us && granted - started >= limit->numbers.max_waiting);
        wrong += refused ? decision->granted || decision->retry_after_us != slot_us - at_us
                         : decision->slot_us != slot_us;
        if (refused)
            continue;
        takt_numbers_commit(&limit->numbers, &state, slot_us, taken_by(&arrivals[i]));
        takt_memory_pages_end(&pages, true);
        slots[granted++] = last_us = slot_us;
    }
    cr_expect_eq(wrong, 0, "%d of %d decisions are wrong under %s", wrong, ARRIVALS,
                 limit->numbers.rules[0].algorithm->name);
    takt_memory_pages_close(&pages);
}

Test(oracle, refuses_as_first_come_first_served_means)
{
    static const takt_rule numbers = {.limit = 20, .period_us = SECOND, .burst = 3};
    uint64_t random = test_seed(5);

    for (size_t i = 0; i < ALGORITHMS; i++)
        for (int round = 0; round < 5; round++) {
            takt_limit limit = limit_named(&algorithms[i], &numbers, 1);
            check_patience(&limit, &random);
        }
}

/* ... and where its rules count several units. */
Test(oracle, refuses_as_first_come_first_served_means_with_units)
{
    static const takt_rule numbers[] = {
        {.limit = 20, .period_us = SECOND, .burst = 4},
        {.limit = 200, .period_us = SECOND, .burst = 30, .unit = TAKT_UNIT_MORE},
        {.limit = 200, .period_us = 20 * SECOND, .burst = 50, .unit = TAKT_UNIT_REQUESTS}};
    uint64_t random = test_seed(6);

    for (size_t i = 0; i < ALGORITHMS; i++) {
        const char *all[] = {algorithms[i], algorithms[(i + 1) % ALGORITHMS], algorithms[0]};
        takt_limit limit = limit_named(all, numbers, 3);
        if (takt_numbers_capacity(&limit.numbers, TAKT_UNIT_TOKENS, NULL) < 3 ||
            takt_numbers_capacity(&limit.numbers, TAKT_UNIT_MORE, NULL) < 30)
            continue;
        check_patience(&limit, &random);
    }
}

/* ---- amounts --------------------------------------------------------------------------------- */

static const char model[] = "limits:\n"
                            "  - name: model\n"
                            "    rules:\n"
                            "      - {rate: 2/s, burst: 9, counts: requests}\n"
                            "      - {rate: 100/s, burst: 500, counts: tokens}\n"
                            "      - {rate: 1/s, burst: 5, counts: calls, default_amount: 2}\n"
                            "  - {name: one, rules: [{rate: 100/s, burst: 500, counts: tokens}]}\n";

Test(oracle, takes_amounts)
{
    takt_policy *policy;
    takt_oracle *oracle;
    outcome told = {0};
    takt_arrival tokens = {.cost = 1, .priority = 5, .max_wait_us = ANY};
    static const int64_t slots_us[] = {0, 2 * SECOND, 4 * SECOND, 6 * SECOND};

    cr_assert_eq(takt_policy_parse(&policy, "p", model, sizeof model - 1, NULL), 0);
    cr_assert_eq(takt_oracle_open(&oracle, takt_policy_limit(policy, "model"), 0, 0, keep, &told),
                 0);
    tokens.amounts[0] = (takt_amount){"tokens", 400};
    cr_expect_eq(takt_oracle_arrive(oracle, &tokens), 0);
    tokens.amounts[0].amount = 300; /* 100 are there; 2 s later, all */
    cr_expect_eq(takt_oracle_arrive(oracle, &tokens), 0);
    tokens.amounts[1] = (takt_amount){"calls", 5}; /* at 2 s there are 3 */
    tokens.amounts[0].amount = 1;
    cr_expect_eq(takt_oracle_arrive(oracle, &tokens), 0);
    tokens.amounts[0].amount = 1;
    tokens.amounts[1].amount = 2;
    cr_expect_eq(takt_oracle_arrive(oracle, &tokens), 0);
    tokens.amounts[1].amount = 6; /* never */
    cr_expect_eq(takt_oracle_arrive(oracle, &tokens), 0);
    takt_oracle_end(oracle);
    cr_assert_eq(told.count, 5);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(told.decisions[i].slot_us, slots_us[i], "arrival %d: %lld", i,
                     (long long)told.decisions[i].slot_us);
    cr_expect_not(told.decisions[4].granted);
    cr_expect_eq(told.decisions[4].retry_after_us, -1);
    takt_oracle_close(oracle);
    takt_policy_free(policy);
}

Test(oracle, amounts_that_are_wrong)
{
    static const struct {
        const char *limit;
        takt_amount amounts[2];
        int32_t cost;
        const char *error;
    } rows[] = {
        {"model",
         {{0}},
         1,
         "limit \"model\": no amount of tokens, which its rules count; state it, or give the rule "
         "a default_amount in the policy"},
        {"model",
         {{"tokens", 1}, {"bytes", 1}},
         1,
         "limit \"model\": an amount of \"bytes\"; its rules count tokens, calls"},
        {"model",
         {{"tokens", 1}, {"requests", 1}},
         1,
         "limit \"model\": an amount of \"requests\"; leave it out: each acquire is one request"},
        {"model", {{"tokens", -1}}, 1, "limit \"model\": -1 tokens; ask for 1 to 1000000"},
        {"model",
         {{"tokens", 1}},
         3,
         "limit \"model\": a cost of 3, and its rules count tokens; state the amount of tokens "
         "instead"},
        {"one", {{"bytes", 1}}, 1, "limit \"one\": an amount of \"bytes\"; its rules count tokens"},
        {"one", {{0}}, -1, "a cost of -1; ask for 0 to 1000000"},
        {"one", {{0}}, 7, ""},
        {"one", {{"tokens", 7}}, 1, ""},
        {"model", {{"tokens", 7}}, 1, ""},
        {"model", {{"tokens", 7}}, 0, ""},
    };
    takt_policy *policy;

    cr_assert_eq(takt_policy_parse(&policy, "p", model, sizeof model - 1, NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const takt_limit *limit = takt_policy_limit(policy, rows[i].limit);
        takt_arrival arrival = {.cost = rows[i].cost, .priority = 5, .max_wait_us = ANY};
        takt_error error = {0};
        takt_oracle *oracle;
        outcome told = {0};
        int code = rows[i].error[0] ? TAKT_E_INVALID : 0;
        memcpy(arrival.amounts, rows[i].amounts, sizeof rows[i].amounts);
        cr_expect_eq(takt_oracle_check(limit, &arrival, &error), code, "row %zu", i);
        cr_expect_str_eq(error.text, rows[i].error, "row %zu", i);
        cr_assert_eq(takt_oracle_open(&oracle, limit, 0, 0, keep, &told), 0);
        cr_expect_eq(takt_oracle_arrive(oracle, &arrival), code, "row %zu", i);
        takt_oracle_close(oracle);
    }
    takt_policy_free(policy);
}
