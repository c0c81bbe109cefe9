/*
 * Two counters: what the window before counts, when there is room again, and what a block, a
 * foreign clock and changed numbers leave.
 */
#include "base/random.h"
#include "rules/promises.h"

#define START (NOW - NOW % MINUTE)

static takt_rule sliding(int64_t limit, int64_t period_us)
{
    return rule_by(&takt_sliding_window, limit, period_us);
}

static int64_t room_at(const kept *k, int64_t t_us)
{
    return takt_sliding_window.room(&k->rule, &k->state, t_us, t_us);
}

/* 100 a minute: 30 % into the minute, the previous minute's count weighs 70 %. */
Test(sliding_window, the_window_before_counts_by_what_is_left_of_it)
{
    static const struct {
        int64_t previous, past_us, room;
    } rows[] = {
        {100, 18 * SECOND, 30}, {100, 0, 0},           {100, 600 * MS, 1}, {100, 599999, 0},
        {50, 18 * SECOND, 65},  {1, 59999999, 99},     {1, MINUTE, 100},   {100, MINUTE - 1, 99},
        {70, 30 * SECOND, 65},  {71, 30 * SECOND, 64},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        kept k;
        keep(&k, sliding(100, MINUTE), START);
        take_from(&k, START, rows[i].previous);
        cr_expect_eq(room_at(&k, START + MINUTE + rows[i].past_us), rows[i].room,
                     "row %zu: %" PRId64, i, room_at(&k, START + MINUTE + rows[i].past_us));
        let_go(&k);
    }
}

Test(sliding_window, waits_until_enough_of_it_has_passed)
{
    static const struct {
        int64_t t_us, cost, slot_us;
    } rows[] = {
        {0, 10, 0},
        {1 * SECOND, 1, 66 * SECOND},   /* 10 * 54 / 60 + 1 = 10 */
        {1 * SECOND, 2, 78 * SECOND},   /* 10 * 42 / 60 + 3 = 10 */
        {1 * SECOND, 10, 180 * SECOND}, /* until nothing counts: the window after the next */
        {1 * SECOND, 11, TAKT_NEVER},
        {400 * SECOND, 10, 400 * SECOND},
    };
    kept k;

    keep(&k, sliding(10, MINUTE), START);
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t slot_us = take_from(&k, START + rows[i].t_us, rows[i].cost);
        cr_expect_eq(slot_us, rows[i].slot_us == TAKT_NEVER ? TAKT_NEVER : START + rows[i].slot_us,
                     "row %zu: %" PRId64, i, slot_us - START);
        through_text(&k);
    }
    let_go(&k);
}

/* As from a full rule: the next token is due at that moment, and then they are paced. */
Test(sliding_window, after_a_block_it_paces)
{
    for (int64_t past_us = 600 * MS; past_us < 2 * MINUTE; past_us += 7 * SECOND) {
        takt_rule rule = sliding(100, MINUTE);
        int64_t at_us = START + past_us;
        kept k;
        keep(&k, rule, START);
        for (int again = 0; again < 2; again++)
            takt_sliding_window.exhaust(&rule, &k.state, at_us);
        cr_expect_eq(take_from(&k, at_us, 1), at_us, "%" PRId64, past_us);
        takt_sliding_window.exhaust(&rule, &k.state, at_us);
        for (int64_t n = 1; n < 30; n++) {
            int64_t slot_us = take_from(&k, at_us, 1);
            cr_expect(slot_us >= at_us + (n - 1) * 600 * MS &&
                          slot_us <= at_us + (n + 1) * 606 * MS,
                      "the %" PRId64 "-th %" PRId64 " after", n, slot_us - at_us);
        }
        let_go(&k);
    }
}

Test(sliding_window, is_at_rest_when_nothing_counts)
{
    kept k;

    keep(&k, sliding(10, MINUTE), START + 5);
    cr_expect_eq(takt_sliding_window.rest_at(&k.rule, &k.state), START);
    take_from(&k, START + 5, 1);
    cr_expect_eq(takt_sliding_window.rest_at(&k.rule, &k.state), START + 2 * MINUTE);
    cr_expect_eq(room_at(&k, START + 2 * MINUTE), 10);
    cr_expect_eq(room_at(&k, START + 2 * MINUTE - 1), 9);
    let_go(&k);
}

Test(sliding_window, a_foreign_clock_is_pulled_back)
{
    takt_rule rule = sliding(60, MINUTE);
    int64_t now_us = START + 30 * SECOND;
    kept k;

    keep(&k, rule, START + HOUR);
    take_from(&k, START + HOUR, 60);
    takt_sliding_window.pull_back(&rule, &k.state, now_us, 10 * SECOND, 250 * MS);
    cr_expect_leq(room_at(&k, now_us + 250 * MS), 1, "no fresh burst");
    cr_expect_leq(takt_sliding_window.earliest(&rule, &k.state, now_us, 1), now_us + 2 * SECOND,
                  "no hour's wait");
    let_go(&k);
}

Test(sliding_window, changed_numbers_keep_what_counts)
{
    static const struct {
        int64_t to_limit, to_period_us, room;
    } rows[] = {
        {100, MINUTE, 60}, {200, MINUTE, 160},    {20, MINUTE, 0},
        {200, HOUR, 160},  {80, 30 * SECOND, 40},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule to = sliding(rows[i].to_limit, rows[i].to_period_us);
        int64_t now_us = START + 75 * SECOND, room;
        kept k;
        keep(&k, sliding(100, MINUTE), START);
        take_from(&k, START, 40);
        take_from(&k, now_us, 10); /* 40 * 45 / 60 + 10 = 40 count */
        takt_sliding_window.convert(&k.rule, &to, &k.state, now_us);
        k.rule = to;
        room = room_at(&k, now_us);
        cr_expect(room <= rows[i].room && room >= rows[i].room - 1, "row %zu: %" PRId64, i, room);
        through_text(&k);
        let_go(&k);
    }
}

/* Far ahead, and with the largest numbers, in closed form and without overflow. */
Test(sliding_window, due_and_room_agree_far_ahead)
{
    static const struct {
        int64_t limit, period_us;
    } rows[] = {
        {1000000000, 1}, {1000000000, TAKT_SPAN_MAX_US}, {1, 1}, {1, TAKT_SPAN_MAX_US}, {3, 2},
        {7, DAY},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        kept k;
        keep(&k, sliding(rows[i].limit, rows[i].period_us), NOW);
        take_from(&k, NOW, rows[i].limit);
        for (int64_t n = 1; n <= TAKT_ROOM_MAX; n = n * 10 + 3) {
            int64_t due_us = takt_sliding_window.due(&k.rule, &k.state, NOW, n);
            if (due_us >= INT64_C(1) << 53)
                break;
            cr_expect_geq(takt_sliding_window.room(&k.rule, &k.state, NOW, due_us), n, "row %zu",
                          i);
            cr_expect_lt(takt_sliding_window.room(&k.rule, &k.state, NOW, due_us - 1), n, "row %zu",
                         i);
        }
        let_go(&k);
    }
}

Test(sliding_window, texts_that_are_none)
{
    static const char *const texts[] = {
        "s3/60000000 0,0",
        "s3/60000000 1,0,0",
        "s3/60000000 0,1000000001,0",
        "s3/60000000 0,0,1000000001",
        "s3/60000000 0,0,-1",
        "s/60000000 0,0,0",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        takt_reader reader = {texts[i], texts[i] + strlen(texts[i]), false};
        takt_rule_state state = {.pages = NULL};
        takt_rule rule;
        takt_rule_read(&rule, &state, &reader);
        cr_expect_not(takt_read_done(&reader), "%s", texts[i]);
    }
}

/* 20 in 2 s, from rest late in a window: 39 in 2 s if the counters alone decided. */
Test(sliding_window, a_late_burst_holds_back_the_next_window)
{
    takt_rule rule = sliding(20, 2 * SECOND);
    int64_t start_us = NOW - NOW % (2 * SECOND), slot_us = 0;
    kept k;

    keep(&k, rule, start_us);
    for (int i = 0; i < 20; i++)
        cr_assert_eq(take_from(&k, start_us + 1900 * MS, 1), start_us + 1900 * MS);
    for (int i = 0; i < 5; i++)
        slot_us = take_from(&k, start_us + 1900 * MS, 1);
    cr_expect_leq(slot_us, start_us + 4 * SECOND, "a quarter may be over");
    slot_us = take_from(&k, start_us + 1900 * MS, 1);
    cr_expect_geq(slot_us, start_us + 3900 * MS, "%" PRId64, slot_us - start_us);
    through_text(&k);
    let_go(&k);
}

/* A worker that always takes every token gets the limit minus one in each window, also after a late
 * start. */
Test(sliding_window, a_late_start_costs_nothing_in_the_long_run)
{
    static const int64_t past_us[] = {0, 10 * SECOND, 30 * SECOND, 59 * SECOND};

    for (size_t i = 0; i < COUNT(past_us); i++) {
        kept k;
        int64_t slot_us = 0;
        keep(&k, sliding(100, MINUTE), START);
        for (int n = 0; n < 100 * 20; n++)
            slot_us = take_from(&k, START + past_us[i], 1);
        cr_expect_leq(slot_us, START + past_us[i] + 22 * MINUTE, "row %zu: %" PRId64, i,
                      (slot_us - START) / SECOND);
        let_go(&k);
    }
}

/* Bursts as large as can be at any time, of any cost: every period is looked at. */
Test(sliding_window, no_period_has_more_than_a_quarter_over_the_limit)
{
    static taken slots[400];
    uint64_t random = 1;

    for (int round = 0; round < 3000; round++) {
        takt_rule rule =
            sliding(1 + takt_random_below(&random, 60), 1000 + takt_random_below(&random, 100000));
        int64_t now_us = NOW + takt_random_below(&random, rule.period_us);
        int count = 0;
        kept k;
        keep(&k, rule, now_us);
        while (count < (int)COUNT(slots)) {
            int64_t cost = takt_random_below(&random, 3)
                               ? 1
                               : 1 + takt_random_below(&random, (rule.limit + 1) / 2);
            int64_t burst = 1 + takt_random_below(&random, 2 * rule.limit);
            for (; burst > 0 && count < (int)COUNT(slots); burst--)
                slots[count++] = (taken){take_from(&k, now_us, cost), cost};
            now_us = slots[count - 1].slot_us;
            if (takt_random_below(&random, 2))
                now_us += takt_random_below(&random, 3 * rule.period_us);
        }
        cr_assert(sliding_is_bounded(&rule, slots, count), "round %d: %" PRId64 "/%" PRId64, round,
                  rule.limit, rule.period_us);
        let_go(&k);
    }
}

Test(sliding_window, what_fits_fits_later_as_well)
{
    int64_t start_us = NOW - NOW % (2 * SECOND);

    for (int64_t cost = 1; cost <= 20; cost++)
        for (int64_t before = 0; before <= 20; before++)
            for (int64_t at_us = 0; at_us < 2 * SECOND; at_us += 190 * MS) {
                int64_t first_us;
                kept k;
                keep(&k, sliding(20, 2 * SECOND), start_us);
                if (before > 0)
                    take_from(&k, start_us + at_us, before);
                first_us = takt_sliding_window.earliest(&k.rule, &k.state, start_us + at_us, cost);
                for (int64_t later_us = first_us; later_us < start_us + 7 * SECOND;
                     later_us += 100 * MS)
                    cr_assert_eq(takt_sliding_window.earliest(&k.rule, &k.state, later_us, cost),
                                 later_us,
                                 "%" PRId64 " at %" PRId64 ", %" PRId64 " later: %" PRId64, before,
                                 at_us, cost, later_us - start_us);
                let_go(&k);
            }
}
