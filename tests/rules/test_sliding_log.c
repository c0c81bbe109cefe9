/*
 * The exact log: which tokens leave when, in closed form for any length of the log, its size, and
 * the effects of a block, a clock that jumps, changed numbers and damaged pages.
 */
#include "base/random.h"
#include "rules/promises.h"
#include "seed.h"

#define CLOCK(h, m, s) (NOW - NOW % DAY + (h)*HOUR + (m)*MINUTE + (s)*SECOND)

static takt_rule log_of(int64_t limit, int64_t period_us)
{
    return rule_by(&takt_sliding_log, limit, period_us);
}

/* 1/s and 5/min, earlier tokens at :33:35 :33:37 :34:14 :34:26 :34:28. */
Test(sliding_log, two_rules_and_five_earlier_tokens)
{
    static const struct {
        int64_t asked_us, slot_us;
    } rows[] = {{CLOCK(12, 34, 31), CLOCK(12, 34, 35)}, {CLOCK(12, 34, 40), CLOCK(12, 34, 40)}};
    const int64_t earlier[] = {CLOCK(12, 33, 35), CLOCK(12, 33, 37), CLOCK(12, 34, 14),
                               CLOCK(12, 34, 26), CLOCK(12, 34, 28)};

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_numbers limit = {.rule_count = 2};
        takt_memory_pages pages;
        takt_rules_state state;
        takt_memory_pages_init(&pages);
        takt_numbers_begin(&state, &pages.pages);
        limit.rules[0] = log_of(1, SECOND);
        limit.rules[1] = log_of(5, MINUTE);
        takt_numbers_rest(&limit, &state, CLOCK(12, 33, 0));
        for (size_t j = 0; j < COUNT(earlier); j++) {
            cr_assert_eq(takt_numbers_earliest(&limit, &state, earlier[j], takt_amounts_of_cost(1)),
                         earlier[j]);
            takt_numbers_commit(&limit, &state, earlier[j], takt_amounts_of_cost(1));
        }
        cr_expect_eq(
            takt_numbers_earliest(&limit, &state, rows[i].asked_us, takt_amounts_of_cost(1)),
            rows[i].slot_us);
        takt_memory_pages_close(&pages);
    }
}

/* 300 in 300 s: 150 calls at 150 s, taking 5 s in all, then 150 more, one every 2 s: none waits,
 * the last is at 455 s. */
Test(sliding_log, lets_a_burst_pass_that_a_fixed_window_has_wait)
{
    kept k;
    int64_t last_us = 0;

    keep(&k, log_of(300, 300 * SECOND), NOW);
    for (int i = 0; i < 300; i++) {
        int64_t wanted_us =
            NOW + (i < 150 ? 150 * SECOND + i * 5 * SECOND / 150 : (155 + 2 * (i - 149)) * SECOND);
        last_us = take_from(&k, wanted_us, 1);
        cr_assert_eq(last_us, wanted_us, "call %d waits", i);
    }
    cr_expect_eq(last_us, NOW + 455 * SECOND);
    let_go(&k);
}

Test(sliding_log, a_token_counts_for_one_period_and_no_longer)
{
    static const struct {
        int64_t t_us, cost, slot_us;
    } rows[] = {
        {0, 2, 0},
        {10, 1, 10},
        {20, 1, 1000}, /* when the first two leave: there is room for two */
        {20, 1, 1000},
        {20, 1, 1010},
        {500, 3, 2010}, /* when all have left */
        {500, 4, TAKT_NEVER},
        {3009, 1, 3010},
        {5000, 3, 5000},
    };
    kept k;

    keep(&k, log_of(3, 1000), NOW);
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t slot_us = take_from(&k, NOW + rows[i].t_us, rows[i].cost);
        cr_expect_eq(slot_us, rows[i].slot_us == TAKT_NEVER ? TAKT_NEVER : NOW + rows[i].slot_us,
                     "row %zu: %" PRId64, i, slot_us - NOW);
        through_text(&k);
    }
    let_go(&k);
}

/* As if `limit` had been taken evenly before: one at once, then one each emission interval. */
Test(sliding_log, after_a_block_it_paces_for_a_period)
{
    takt_rule rule = log_of(10, SECOND);
    kept k;

    keep(&k, rule, NOW);
    takt_sliding_log.exhaust(&rule, &k.state, NOW);
    cr_expect_eq(takt_sliding_log.rest_at(&rule, &k.state), NOW + SECOND);
    for (int64_t n = 0; n < 30; n++) {
        takt_sliding_log.exhaust(&rule, &k.state, NOW);
        cr_expect_eq(take_from(&k, NOW, 1), NOW + n * 100 * MS);
        through_text(&k);
    }
    let_go(&k);
    keep(&k, rule, NOW);
    takt_sliding_log.exhaust(&rule, &k.state, NOW);
    cr_expect_eq(takt_sliding_log.earliest(&rule, &k.state, NOW, 4), NOW + 300 * MS);
    cr_expect_eq(takt_sliding_log.earliest(&rule, &k.state, NOW - SECOND, 1), NOW);
    cr_expect_eq(takt_sliding_log.room(&rule, &k.state, NOW + SECOND, NOW + SECOND), 10);
    let_go(&k);
}

Test(sliding_log, a_foreign_clock_is_pulled_back)
{
    takt_rule rule = log_of(600, MINUTE);
    kept k;

    keep(&k, rule, NOW);
    for (int i = 0; i < 600; i++)
        take_from(&k, NOW + HOUR + i, 1);
    takt_sliding_log.pull_back(&rule, &k.state, NOW + HOUR - 10 * SECOND, 10 * SECOND + 600,
                               250 * MS);
    cr_expect_eq(takt_log_held(&k.state.log), 600, "not further than slots can be awarded");
    takt_sliding_log.pull_back(&rule, &k.state, NOW, 10 * SECOND, 250 * MS);
    takt_memory_pages_end(&k.pages, true);
    cr_expect_eq(takt_memory_pages_count(&k.pages), 0);
    cr_expect_eq(take_from(&k, NOW, 1), NOW + 250 * MS, "no fresh burst and no hour's wait");
    cr_expect_eq(take_from(&k, NOW, 1), NOW + 350 * MS);
    let_go(&k);
}

Test(sliding_log, changed_numbers_keep_what_was_taken)
{
    static const struct {
        int64_t to_limit, to_period_us, slot_us;
    } rows[] = {
        {10, MINUTE, 60 * SECOND}, {11, MINUTE, 10 * SECOND}, {9, MINUTE, 61 * SECOND},
        {1, MINUTE, 69 * SECOND},  {10, SECOND, 10 * SECOND}, {1, 2 * SECOND, 11 * SECOND},
        {10, HOUR, HOUR},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule to = log_of(rows[i].to_limit, rows[i].to_period_us);
        kept k;
        keep(&k, log_of(10, MINUTE), NOW);
        for (int j = 0; j < 10; j++)
            take_from(&k, NOW + j * SECOND, 1);
        takt_sliding_log.convert(&k.rule, &to, &k.state, NOW + 10 * SECOND);
        k.rule = to;
        through_text(&k);
        cr_expect_eq(take_from(&k, NOW + 10 * SECOND, 1), NOW + rows[i].slot_us, "row %zu", i);
        let_go(&k);
    }
}

/* Counts the pages that are asked for. */
typedef struct counting {
    takt_pages pages;
    takt_memory_pages memory;
    int64_t gets;
} counting;

static void *count_get(takt_pages *pages, int book, int64_t number, takt_page_use use)
{
    counting *c = (counting *)pages;

    c->gets++;
    return c->memory.pages.get(&c->memory.pages, book, number, use);
}

static void count_drop(takt_pages *pages, int book, int64_t number)
{
    counting *c = (counting *)pages;

    c->memory.pages.drop_below(&c->memory.pages, book, number);
}

/* A full log, from which each token waits: what a token costs must not depend on the limit. */
Test(sliding_log, a_token_costs_the_same_however_large_the_limit)
{
    const int64_t limits[] = {100, 10000, (int64_t)test_rounds(1000000)};
    int64_t gets[COUNT(limits)], pages[COUNT(limits)];

    for (size_t i = 0; i < COUNT(limits); i++) {
        takt_rule rule = log_of(limits[i], limits[i] * 10);
        counting c = {.pages = {.get = count_get, .drop_below = count_drop}};
        takt_rule_state state = {.pages = &c.pages};
        int64_t full = 2 * limits[i];
        takt_memory_pages_init(&c.memory);
        takt_sliding_log.rest(&rule, &state, NOW);
        for (int64_t n = 0; n < full + 10000; n++) {
            int64_t slot_us = takt_sliding_log.earliest(&rule, &state, NOW + 7 * n, 1);
            if (n == full)
                c.gets = 0;
            takt_sliding_log.commit(&rule, &state, slot_us, 1);
            takt_memory_pages_end(&c.memory, true);
        }
        gets[i] = c.gets;
        pages[i] = (int64_t)takt_memory_pages_count(&c.memory);
        cr_expect_leq(pages[i], limits[i] / TAKT_LOG_PAGE_ENTRIES + 2, "16 bytes a token");
        takt_memory_pages_close(&c.memory);
    }
    cr_expect_leq(gets[2], gets[0] + gets[0] / 10, "%" PRId64 " and %" PRId64, gets[0], gets[2]);
    cr_expect_leq(gets[0], 10000 * 8);
}

/* A long log, queried far from its front: a binary search, not a walk. */
Test(sliding_log, due_and_room_halve_their_way)
{
    enum { LIMIT = 100000 };
    takt_rule rule = log_of(LIMIT, DAY);
    counting c = {.pages = {.get = count_get, .drop_below = count_drop}};
    takt_rule_state state = {.pages = &c.pages};

    takt_memory_pages_init(&c.memory);
    takt_sliding_log.rest(&rule, &state, NOW);
    for (int64_t n = 0; n < LIMIT; n++)
        takt_sliding_log.commit(&rule, &state, NOW + 3 * n, 1);
    for (int64_t n = 1; n < LIMIT; n += 997) {
        c.gets = 0;
        cr_assert_eq(takt_sliding_log.due(&rule, &state, NOW, n), NOW + 3 * (n - 1) + DAY);
        cr_assert_eq(takt_sliding_log.room(&rule, &state, NOW, NOW + 3 * (n - 1) + DAY), n);
        cr_assert_leq(c.gets, 80, "%" PRId64 ": %" PRId64, n, c.gets);
    }
    cr_expect_eq(takt_sliding_log.due(&rule, &state, NOW, TAKT_ROOM_MAX),
                 NOW + 3 * (LIMIT - 1) + DAY + (TAKT_ROOM_MAX / LIMIT - 1) * DAY);
    takt_memory_pages_close(&c.memory);
}

/* A page that is gone, and one that is full of something else: noted, never read past, and always
 * an answer. */
Test(sliding_log, damaged_pages_are_noted)
{
    uint64_t random = test_seed(1);

    for (int round = 0; round < 300; round++) {
        takt_rule rule = log_of(1000, SECOND);
        kept k;
        keep(&k, rule, NOW);
        for (int64_t n = 0; n < 1000; n++)
            take_from(&k, NOW + n, 1);
        for (int i = 0; i < 2; i++) {
            int64_t *page = k.pages.pages.get(&k.pages.pages, 0, i, TAKT_PAGE_CHANGE);
            for (int j = 0; j < 2 * TAKT_LOG_PAGE_ENTRIES; j++)
                page[j] = round == 0 ? 0 : (int64_t)takt_random(&random);
        }
        if (round == 1)
            takt_memory_pages_close(&k.pages);
        cr_expect_lt(takt_sliding_log.earliest(&rule, &k.state, NOW, 1), TAKT_NEVER);
        cr_expect_leq(takt_sliding_log.room(&rule, &k.state, NOW, NOW + HOUR), TAKT_ROOM_MAX);
        takt_sliding_log.commit(&rule, &k.state, NOW + SECOND + 100, 1);
        cr_expect_eq(k.pages.pages.trouble, TAKT_PAGES_DAMAGED, "round %d", round);
        let_go(&k);
    }
}

Test(sliding_log, texts_that_are_none)
{
    static const char *const texts[] = {
        "l3/1000 0,0",         "l3/1000 0,0,0#",
        "l3/1000 0,0,0#0,0,0", "l3/1000 0,0,0#17,0,0",
        "l3/1000 0,0,0#1,5,4", "l3/1000 0,0,0^0,0",
        "l3/1000 0,0,0^5",     "l3/1000 0,1125899906842624,0",
        "l3/1000 0,0,1",       "l3/1000 0,0,0 ",
    };
    takt_memory_pages pages;

    takt_memory_pages_init(&pages);
    for (size_t i = 0; i < COUNT(texts); i++) {
        takt_reader reader = {texts[i], texts[i] + strlen(texts[i]), false};
        takt_rule_state state = {.pages = &pages.pages};
        takt_rule rule;
        pages.pages.taken = 0;
        takt_rule_read(&rule, &state, &reader);
        cr_expect_not(takt_read_done(&reader), "%s", texts[i]);
    }
}

/* Two logs of one ledger do not write into one book, also after rules have changed places. */
Test(sliding_log, logs_keep_their_books)
{
    takt_numbers before = {.rule_count = 2}, after = {.rule_count = 2};
    takt_memory_pages pages;
    takt_rules_state state;

    takt_memory_pages_init(&pages);
    takt_numbers_begin(&state, &pages.pages);
    before.rules[0] = after.rules[1] = log_of(600, SECOND);
    before.rules[1] = log_of(3000, MINUTE);
    after.rules[0] = log_of(100, HOUR);
    takt_numbers_rest(&before, &state, NOW);
    for (int64_t n = 0; n < 600; n++)
        takt_numbers_commit(&before, &state, NOW + n, takt_amounts_of_cost(1));
    cr_expect_neq(state.rules[0].log.book, state.rules[1].log.book);
    takt_numbers_convert(&before, &after, &state, NOW + 600);
    cr_expect_eq(takt_log_held(&state.rules[1].log), 600);
    cr_expect_eq(takt_numbers_earliest(&after, &state, NOW + 600, takt_amounts_of_cost(1)),
                 NOW + HOUR + 500);
    after.rules[0] = rule_by(&takt_gcra, 100, SECOND);
    before.rules[0] = log_of(100, HOUR);
    before.rules[1] = log_of(600, SECOND);
    takt_numbers_convert(&before, &after, &state, NOW + 600);
    takt_memory_pages_end(&pages, true);
    cr_expect_eq(takt_memory_pages_count(&pages), 3, "the log of a rule that is gone is gone");
    cr_expect_eq(takt_sliding_log.earliest(&after.rules[1], &state.rules[1], NOW, 1), NOW + SECOND);
    takt_memory_pages_close(&pages);
}

/* However late each start is, up to the guard, no period sees more than the limit. */
Test(sliding_log, a_guard_keeps_late_starts_within_the_rule)
{
    takt_rule rule = {
        .algorithm = &takt_sliding_log, .limit = 5, .period_us = SECOND, .guard_us = SECOND / 20};
    taken starts[400];
    uint64_t random = 7;
    kept k;

    cr_assert_eq(takt_rule_prepare(&rule, NULL), 0);
    keep(&k, rule, NOW);
    for (size_t i = 0; i < COUNT(starts); i++) {
        int64_t slot_us = take_from(&k, NOW, 1);
        starts[i] = (taken){slot_us + takt_random_below(&random, rule.guard_us + 1), 1};
    }
    for (size_t i = 0; i < COUNT(starts); i++)
        cr_assert_leq(
            tokens_in(starts, COUNT(starts), starts[i].slot_us, starts[i].slot_us + SECOND), 5);
    cr_expect_eq(takt_rule_same(&rule, &k.rule), true);
    let_go(&k);
}

Test(sliding_log, a_guard_is_in_the_text)
{
    static const char *const texts[] = {"l5/1000000 1,0,0", "l5/1000000+50000 1,0,0",
                                        "l5/1000000+0 1,0,0", "l5/1000000+500001 1,0,0"};
    static const bool good[] = {true, true, false, false};
    takt_memory_pages pages;

    takt_memory_pages_init(&pages);
    for (size_t i = 0; i < COUNT(texts); i++) {
        takt_reader reader = {texts[i], texts[i] + strlen(texts[i]), false};
        takt_rule_state state = {.pages = &pages.pages};
        takt_rule rule;
        takt_rule_read(&rule, &state, &reader);
        cr_assert_eq(takt_read_done(&reader), good[i], "%s", texts[i]);
        if (!good[i])
            continue;
        cr_expect_eq(rule.period_us, SECOND);
        cr_expect_eq(rule.guard_us, i == 0 ? 0 : SECOND / 20);
        cr_expect_eq(rule.span_us, SECOND + rule.guard_us);
    }
    takt_memory_pages_close(&pages);
}
