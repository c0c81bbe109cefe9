/*
 * Random rules, costs and arrivals, for every algorithm: the promise holds, no slot could have been
 * earlier, room and due agree with single steps, and a text has the whole state. Then several rules
 * of any algorithms in one limit.
 */
#include <string.h>

#include "base/random.h"
#include "rules/promises.h"
#include "seed.h"

#define SLOTS  160
#define ROUNDS 120

static const struct {
    const takt_algorithm *algorithm;
    takt_align align;
} kinds[] = {
    {&takt_fixed_window, TAKT_ALIGN_CLOCK},     {&takt_fixed_window, TAKT_ALIGN_FIRST_USE},
    {&takt_sliding_window, TAKT_ALIGN_DEFAULT}, {&takt_sliding_log, TAKT_ALIGN_DEFAULT},
    {&takt_gcra, TAKT_ALIGN_DEFAULT},           {&takt_token_bucket, TAKT_ALIGN_DEFAULT},
    {&takt_leaky_bucket, TAKT_ALIGN_DEFAULT},
};

static takt_rule random_rule(size_t kind, int64_t period_us, uint64_t *random)
{
    takt_rule rule = {.algorithm = kinds[kind].algorithm,
                      .align = kinds[kind].align,
                      .limit = 1 + takt_random_below(random, 12),
                      .period_us = period_us};
    takt_error error;

    if (takt_random_below(random, 2))
        rule.guard_us = takt_random_below(random, period_us / 2 + 1);

    cr_assert_eq(takt_rule_prepare(&rule, &error), 0, "%s", error.text);
    return rule;
}

/* Slots never go back: to before the latest, or before the window that it is in. */
static int64_t never_before(const takt_rule *rule, const taken *slots, int count, int64_t t_us)
{
    int64_t latest_us = count > 0 ? slots[count - 1].slot_us : 0, min_us = latest_us;

    if (count == 0)
        return t_us;
    if (rule->algorithm->letter == 's' || rule->align == TAKT_ALIGN_CLOCK)
        min_us = latest_us - latest_us % rule->span_us;
    for (int i = 0; rule->align == TAKT_ALIGN_FIRST_USE && i < count; i++)
        if (i == 0 || slots[i].slot_us >= min_us + rule->span_us)
            min_us = slots[i].slot_us;
    return min_us > t_us ? min_us : t_us;
}

static int insert(taken *slots, int count, taken slot)
{
    int at = count;

    for (; at > 0 && slots[at - 1].slot_us > slot.slot_us; at--)
        slots[at] = slots[at - 1];
    slots[at] = slot;
    return count + 1;
}

/* Counters do not know when in a window tokens were taken: later ones count at t_us as well. */
static void forget_when(const takt_rule *rule, taken *slots, int count, int64_t t_us)
{
    int64_t end_us = t_us - t_us % rule->span_us + rule->span_us;

    for (int i = 0; rule->algorithm->letter == 's' && i < count; i++)
        if (slots[i].slot_us > t_us && slots[i].slot_us < end_us)
            slots[i].slot_us = t_us;
}

/* The first instant at which one more slot keeps the promise, found by trying one after the other.
 */
static int64_t first_by_trying(const takt_rule *rule, const taken *slots, int count, int64_t t_us,
                               int64_t cost)
{
    for (t_us = never_before(rule, slots, count, t_us);; t_us++) {
        taken tried[SLOTS + 1];
        memcpy(tried, slots, (size_t)count * sizeof *slots);
        forget_when(rule, tried, count, t_us);
        if (holds(rule, tried, insert(tried, count, (taken){t_us, cost})))
            return t_us;
    }
}

Test(promises, hold_and_no_slot_could_have_been_earlier)
{
    uint64_t seed = test_seed(1);

    for (uint64_t round = 0, rounds = test_rounds(ROUNDS); round < rounds; round++) {
        uint64_t random = seed + round * 7919;
        takt_rule rule =
            random_rule((size_t)(round % 4), 1 + takt_random_below(&random, 60), &random);
        int64_t now_us = NOW + takt_random_below(&random, 1000), spread_us = rule.period_us * 2;
        taken slots[SLOTS];
        kept k;
        int count = 0;
        keep(&k, rule, now_us);
        while (count < SLOTS) {
            int64_t cost = 1 + takt_random_below(&random, rule.limit), slot_us, from_us, first_us;
            now_us += takt_random_below(&random, 3) ? 0 : takt_random_below(&random, spread_us);
            from_us = now_us + takt_random_below(&random, 3 * rule.period_us); /* ahead */
            slot_us = take_from(&k, from_us, cost);
            first_us = first_by_trying(&rule, slots, count, from_us, cost);
            /* what a window took late may hold back more in the next */
            cr_assert(slot_us == first_us || (rule.algorithm->letter == 's' && slot_us > first_us),
                      "round %" PRIu64 " slot %d: %s %" PRId64 "/%" PRId64, round, count,
                      rule.algorithm->name, rule.limit, rule.period_us);
            count = insert(slots, count, (taken){slot_us, cost});
            cr_assert(rule.algorithm->letter != 's' || sliding_is_bounded(&rule, slots, count),
                      "round %" PRIu64 " slot %d: %" PRId64 "/%" PRId64, round, count, rule.limit,
                      rule.period_us);
            through_text(&k);
        }
        cr_assert(holds(&rule, slots, count), "round %" PRIu64, round);
        let_go(&k);
    }
}

/* The slots of single tokens taken one after the other, from a copy. */
static void step(const kept *k, int64_t from_us, int64_t *slots, int count)
{
    kept copy = {.rule = k->rule, .state = k->state};

    takt_memory_pages_init(&copy.pages);
    takt_memory_pages_copy(&copy.pages, &k->pages);
    copy.state.pages = &copy.pages.pages;
    for (int i = 0; i < count; i++)
        slots[i] = take_from(&copy, from_us, 1);
    let_go(&copy);
}

static void check_room_and_due(const kept *k, int64_t from_us, uint64_t round)
{
    const takt_algorithm *a = k->rule.algorithm;
    int64_t slots[100];

    step(k, from_us, slots, 100);
    for (int n = 1; n <= 100; n++) {
        int64_t due_us = a->due(&k->rule, &k->state, from_us, n);
        cr_assert_eq(due_us, slots[n - 1], "round %" PRIu64 ": the %d-th of %s", round, n, a->name);
    }
    for (int64_t until_us = from_us - 1; until_us < slots[99]; until_us += 1 + until_us % 3) {
        int n = 0;
        while (slots[n] <= until_us)
            n++;
        int64_t room = a->room(&k->rule, &k->state, from_us, until_us);
        cr_assert_eq(room, n, "round %" PRIu64 ": room of %s until %" PRId64, round, a->name,
                     until_us - from_us);
    }
}

/* What fits at an instant fits at every later one, so that one round over the rules of a limit
 * finds the first that suits all. */
static void check_later(const kept *k, int64_t from_us, int64_t cost, uint64_t *random)
{
    const takt_algorithm *a = k->rule.algorithm;
    int64_t first_us = a->earliest(&k->rule, &k->state, from_us, cost);

    for (int i = 0; i < 20; i++) {
        int64_t later_us = from_us + takt_random_below(random, 4 * k->rule.period_us);
        cr_assert_eq(a->earliest(&k->rule, &k->state, later_us, cost),
                     later_us > first_us ? later_us : first_us, "%s", a->name);
    }
}

/* Half of the states have been kept under a higher limit: more is taken than the rule ever gives.
 */
static void keep_more(kept *k, takt_rule rule, int64_t now_us, uint64_t *random)
{
    takt_rule higher = rule;

    if (takt_random_below(random, 2)) {
        keep(k, rule, now_us);
        return;
    }
    higher.burst = rule.algorithm->takes & TAKT_TAKES_BURST ? 3 * rule.burst : 0;
    higher.align = rule.algorithm->takes & TAKT_TAKES_ALIGN ? rule.align : TAKT_ALIGN_DEFAULT;
    higher.limit *= 3;
    cr_assert_eq(takt_rule_prepare(&higher, NULL), 0);
    keep(k, higher, now_us);
    for (int64_t n = takt_random_below(random, 3 * rule.limit); n > 0; n--)
        take_from(k, now_us + takt_random_below(random, rule.period_us), 1);
    rule.algorithm->convert(&higher, &rule, &k->state, now_us);
    k->rule = rule;
}

Test(promises, room_and_due_are_what_stepping_gives)
{
    uint64_t seed = test_seed(2);

    for (uint64_t round = 0, rounds = test_rounds(ROUNDS); round < rounds; round++) {
        uint64_t random = seed + round * 7919;
        takt_rule rule = random_rule((size_t)(round % COUNT(kinds)),
                                     1 + takt_random_below(&random, 80), &random);
        int64_t now_us = NOW + takt_random_below(&random, 1000);
        kept k;
        keep_more(&k, rule, now_us, &random);
        for (int i = 0; i < 12; i++) {
            int64_t capacity = rule.algorithm->capacity(&rule);
            now_us += takt_random_below(&random, 2 * rule.period_us);
            for (int64_t n = takt_random_below(&random, 10); n > 0; n--)
                take_from(&k, now_us, 1 + takt_random_below(&random, capacity));
            if (takt_random_below(&random, 4) == 0)
                rule.algorithm->exhaust(&rule, &k.state, now_us);
            check_room_and_due(&k, now_us + takt_random_below(&random, rule.period_us), round);
            check_later(&k, now_us, 1 + takt_random_below(&random, capacity), &random);
            through_text(&k);
        }
        let_go(&k);
    }
}

Test(promises, a_series_is_what_taking_one_by_one_gives)
{
    uint64_t seed = test_seed(3);

    for (uint64_t round = 0, rounds = test_rounds(2000); round < rounds; round++) {
        uint64_t random = seed + round * 7919;
        takt_rule rule = random_rule((size_t)(round % COUNT(kinds)),
                                     1 + takt_random_below(&random, 80), &random);
        int64_t now_us = NOW + takt_random_below(&random, 1000);
        kept k, stepped;
        keep(&k, rule, now_us);
        keep(&stepped, rule, now_us);
        for (int i = 0; i < 20; i++) {
            int64_t capacity = rule.algorithm->capacity(&rule), n;
            int64_t cost = 1 + takt_random_below(&random, capacity);
            int64_t until_us = now_us + takt_random_below(&random, 3 * rule.period_us);
            takt_run run;
            n = rule.algorithm->series(&rule, &k.state, now_us, cost, 9, until_us, &run);
            cr_assert(n >= 0 && n <= 9 && (n == 0 || run.count == n));
            for (int64_t j = 0; j < n; j++)
                cr_assert_eq(takt_run_slot(&run, j), take_from(&stepped, now_us, cost),
                             "round %" PRIu64, round);
            if (n == 0)
                cr_assert_gt(rule.algorithm->earliest(&rule, &k.state, now_us, cost), until_us);
            now_us += takt_random_below(&random, rule.period_us);
        }
        let_go(&k);
        let_go(&stepped);
    }
}

static takt_numbers random_limit(uint64_t *random)
{
    takt_numbers limit = {.lookahead_us = TAKT_LOOKAHEAD_US};
    int rules = 1 + (int)takt_random_below(random, 4);

    for (int i = 0; i < rules; i++)
        limit.rules[limit.rule_count++] =
            random_rule((size_t)takt_random_below(random, COUNT(kinds)),
                        MS * (1 + takt_random_below(random, 400)), random);
    return limit;
}

static int unfold(const takt_run *runs, int run_count, taken *slots, int count)
{
    for (int i = 0; i < run_count; i++)
        for (int64_t j = 0; j < runs[i].count; j++)
            count = insert(slots, count, (taken){takt_run_slot(&runs[i], j), runs[i].cost});
    return count;
}

/* As a ledger takes: many at once, from now on and ahead, with blocks now and then. */
Test(promises, any_algorithms_hold_on_one_limit)
{
    uint64_t seed = test_seed(4);

    for (uint64_t round = 0, rounds = test_rounds(600); round < rounds; round++) {
        uint64_t random = seed + round * 7919;
        takt_numbers limit = random_limit(&random);
        int64_t now_us = NOW, capacity = takt_numbers_capacity(&limit, TAKT_UNIT_TOKENS, NULL);
        takt_memory_pages pages;
        takt_rules_state state;
        taken slots[SLOTS + 20];
        int count = 0;
        takt_memory_pages_init(&pages);
        takt_numbers_begin(&state, &pages.pages);
        takt_numbers_rest(&limit, &state, now_us);
        while (count < SLOTS) {
            takt_run runs[8];
            int run_count = 0;
            now_us += takt_random_below(&random, 50 * MS);
            if (takt_random_below(&random, 30) == 0)
                takt_numbers_exhaust(&limit, &state, now_us);
            takt_numbers_take(&limit, &state, now_us, 1 + takt_random_below(&random, capacity),
                              TAKT_NO_MORE, 1 + takt_random_below(&random, 20),
                              now_us + limit.lookahead_us, runs, &run_count, 8);
            cr_assert_eq(pages.pages.trouble, TAKT_PAGES_FINE);
            takt_memory_pages_end(&pages, true);
            count = unfold(runs, run_count, slots, count);
        }
        for (int i = 0; i < limit.rule_count; i++)
            cr_assert(holds(&limit.rules[i], slots, count), "round %" PRIu64 ": %s breaks", round,
                      limit.rules[i].algorithm->name);
        takt_memory_pages_close(&pages);
    }
}
