/*
 * Fixed windows: what fits in one, what waits for the next, where windows begin by the clock and by
 * first use, and what a block, a foreign clock and changed numbers leave of a window.
 */
#include "rules/promises.h"

#define START (NOW - NOW % MINUTE) /* of a minute */

typedef struct row {
    int64_t t_us, cost, slot_us; /* from START on */
} row;

static takt_rule window_of(int64_t limit, int64_t period_us, takt_align align)
{
    takt_rule rule = {
        .algorithm = &takt_fixed_window, .limit = limit, .period_us = period_us, .align = align};
    takt_error error;

    cr_assert_eq(takt_rule_prepare(&rule, &error), 0, "%s", error.text);
    return rule;
}

static void check(takt_rule rule, const row *rows, size_t count)
{
    kept k;

    keep(&k, rule, START);
    for (size_t i = 0; i < count; i++) {
        int64_t slot_us = take_from(&k, START + rows[i].t_us, rows[i].cost);
        cr_expect_eq(slot_us, rows[i].slot_us == TAKT_NEVER ? TAKT_NEVER : START + rows[i].slot_us,
                     "row %zu: %" PRId64, i, slot_us - START);
        through_text(&k);
    }
    let_go(&k);
}

Test(fixed_window, by_the_clock)
{
    static const row rows[] = {
        {50 * SECOND, 2, 50 * SECOND},
        {51 * SECOND, 1, 51 * SECOND},
        {51 * SECOND, 1, MINUTE}, /* the window is used up: the next one's begin */
        {51 * SECOND, 2, MINUTE}, /* awarded ahead, it fills as well */
        {52 * SECOND, 1, 2 * MINUTE},
        {53 * SECOND, 3, 3 * MINUTE}, /* what does not fit leaves the rest unused, */
        {54 * SECOND, 1, 4 * MINUTE}, /* and no call returns to it */
        {55 * SECOND, 4, TAKT_NEVER},
        {10 * MINUTE + 1, 1, 10 * MINUTE + 1},
        {10 * MINUTE, 2, 10 * MINUTE},
    };

    check(window_of(3, MINUTE, TAKT_ALIGN_CLOCK), rows, COUNT(rows));
}

/* Tokens of the last `guard` of a window may begin in the next one, and count in both. */
Test(fixed_window, what_may_begin_late_counts_twice)
{
    static const row rows[] = {
        {57 * SECOND, 2, 57 * SECOND},
        {58 * SECOND, 1, 58 * SECOND}, /* may begin in the next minute */
        {58 * SECOND, 1, MINUTE},
        {58 * SECOND, 2, 2 * MINUTE}, /* 2 of 3 are taken there, with the one before it */
        {2 * MINUTE + 59 * SECOND, 1, 2 * MINUTE + 59 * SECOND},
        {3 * MINUTE, 3, 4 * MINUTE},
        {6 * MINUTE - 1, 3, 6 * MINUTE - 1}, /* leaves nothing to the next minute */
        {6 * MINUTE, 1, 7 * MINUTE},
        {8 * MINUTE - 1, 2, 8 * MINUTE - 1},
        {9 * MINUTE, 3, 9 * MINUTE}, /* the minute after the next one is free of it */
    };
    takt_rule rule = window_of(3, MINUTE, TAKT_ALIGN_CLOCK);

    rule.guard_us = 2 * SECOND;
    cr_assert_eq(takt_rule_prepare(&rule, NULL), 0);
    check(rule, rows, COUNT(rows));
}

Test(fixed_window, what_may_begin_late_comes_back_to_both)
{
    takt_rule rule = window_of(3, MINUTE, TAKT_ALIGN_CLOCK);
    kept k;

    rule.guard_us = 2 * SECOND;
    cr_assert_eq(takt_rule_prepare(&rule, NULL), 0);
    keep(&k, rule, START);
    take_from(&k, START, 1);
    take_from(&k, START + 59 * SECOND, 2);
    cr_expect_eq(takt_fixed_window.rest_at(&rule, &k.state), START + 2 * MINUTE);
    takt_fixed_window.give_back(&rule, &k.state, START, START, 1, 9, START);
    takt_fixed_window.give_back(&rule, &k.state, START, START + 59 * SECOND, 2, 1, START);
    cr_expect_eq(takt_fixed_window.room(&rule, &k.state, START, START), 2);
    cr_expect_eq(takt_fixed_window.room(&rule, &k.state, START + MINUTE, START + MINUTE), 2);
    cr_expect_eq(takt_fixed_window.due(&rule, &k.state, START, 5), START + 2 * MINUTE);
    let_go(&k);
}

/* Windows that begin with their first token last as long as the last of them can be late. */
Test(fixed_window, a_guard_makes_windows_of_first_use_longer)
{
    static const row rows[] = {
        {0, 3, 0},
        {MINUTE, 1, 62 * SECOND},
        {2 * MINUTE, 2, 2 * MINUTE},
        {2 * MINUTE, 1, 124 * SECOND},
    };
    takt_rule rule = window_of(3, MINUTE, TAKT_ALIGN_FIRST_USE);

    rule.guard_us = 2 * SECOND;
    cr_assert_eq(takt_rule_prepare(&rule, NULL), 0);
    check(rule, rows, COUNT(rows));
}

Test(fixed_window, by_first_use)
{
    static const row rows[] = {
        {50 * SECOND, 2, 50 * SECOND},                                   /* opens */
        {70 * SECOND, 1, 70 * SECOND},   {70 * SECOND, 1, 110 * SECOND}, /* opens when that ends */
        {70 * SECOND, 3, 170 * SECOND},  {200 * SECOND, 1, 230 * SECOND},
        {291 * SECOND, 1, 291 * SECOND}, /* long after: opens now */
        {292 * SECOND, 2, 292 * SECOND}, {292 * SECOND, 1, 351 * SECOND},
        {292 * SECOND, 4, TAKT_NEVER},
    };

    check(window_of(3, MINUTE, TAKT_ALIGN_FIRST_USE), rows, COUNT(rows));
}

/* 150 calls wanted at 150 s, taking 5 s in all, then 150 more, one every 2 s: 60 a minute has them
 * wait. */
Test(fixed_window, has_a_burst_wait_that_a_sliding_rule_lets_pass)
{
    kept k;
    int64_t last_us = 0;
    int waits = 0;

    keep(&k, window_of(60, MINUTE, TAKT_ALIGN_CLOCK), START);
    for (int i = 0; i < 300; i++) {
        int64_t wanted_us = START + (i < 150 ? 150 * SECOND + i * 5 * SECOND / 150
                                             : (155 + 2 * (i - 149)) * SECOND);
        last_us = take_from(&k, wanted_us, 1);
        waits += last_us > wanted_us;
    }
    cr_expect_geq(waits, 90);
    cr_expect_eq(last_us, START + 455 * SECOND, "it has caught up by then");
    let_go(&k);
}

Test(fixed_window, after_a_block_a_window_is_used_as_far_as_it_has_passed)
{
    static const struct {
        takt_align align;
        int64_t taken_us, taken, at_us; /* tokens taken before, and the end of the block */
        int64_t room, next_us;          /* then at once, and when there is more */
    } rows[] = {
        {TAKT_ALIGN_CLOCK, 0, 0, 15 * SECOND, 75, MINUTE},
        {TAKT_ALIGN_CLOCK, 0, 60, 15 * SECOND, 40, MINUTE},
        {TAKT_ALIGN_CLOCK, 0, 100, 75 * SECOND, 75, 2 * MINUTE},
        {TAKT_ALIGN_CLOCK, 0, 0, 0, 100, MINUTE},
        {TAKT_ALIGN_FIRST_USE, 10 * SECOND, 40, 40 * SECOND, 50, 70 * SECOND},
        {TAKT_ALIGN_FIRST_USE, 10 * SECOND, 40, 20 * SECOND, 60, 70 * SECOND},
        {TAKT_ALIGN_FIRST_USE, 0, 0, 30 * SECOND, 50,
         90 * SECOND}, /* none is open: the next is half used */
        {TAKT_ALIGN_FIRST_USE, 0, 100, 75 * SECOND, 50, 135 * SECOND},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule rule = window_of(100, MINUTE, rows[i].align);
        int64_t at_us = START + rows[i].at_us;
        kept k;
        keep(&k, rule, START);
        if (rows[i].taken > 0)
            take_from(&k, START + rows[i].taken_us, rows[i].taken);
        for (int again = 0; again < 2; again++)
            takt_fixed_window.exhaust(&rule, &k.state, at_us);
        through_text(&k);
        cr_expect_eq(takt_fixed_window.room(&rule, &k.state, at_us, at_us), rows[i].room,
                     "row %zu: %" PRId64, i, takt_fixed_window.room(&rule, &k.state, at_us, at_us));
        cr_expect_eq(takt_fixed_window.due(&rule, &k.state, at_us, rows[i].room + 1),
                     START + rows[i].next_us, "row %zu", i);
        take_from(&k, at_us, 1);
        takt_fixed_window.exhaust(&rule, &k.state,
                                  at_us); /* as each call before the block's end does */
        cr_expect_eq(takt_fixed_window.room(&rule, &k.state, at_us, at_us), rows[i].room - 1);
        let_go(&k);
    }
}

/* A window that will open half used opens with its first token: a vendor that counts from there
 * sees no more than the limit. */
Test(fixed_window, what_an_unopened_window_owes_is_forgotten_after_a_period)
{
    takt_rule rule = window_of(100, MINUTE, TAKT_ALIGN_FIRST_USE);
    kept k;

    keep(&k, rule, START);
    takt_fixed_window.exhaust(&rule, &k.state, START);
    cr_expect_eq(takt_fixed_window.rest_at(&rule, &k.state), START + MINUTE);
    cr_expect_eq(takt_fixed_window.earliest(&rule, &k.state, START, 50), START);
    cr_expect_eq(takt_fixed_window.earliest(&rule, &k.state, START + 10, 51), START + MINUTE);
    cr_expect_eq(take_from(&k, START + 59 * SECOND, 50), START + 59 * SECOND);
    cr_expect_eq(take_from(&k, START + 61 * SECOND, 1), START + 119 * SECOND);
    let_go(&k);
}

Test(fixed_window, a_foreign_clock_is_pulled_back)
{
    static const takt_align aligns[] = {TAKT_ALIGN_CLOCK, TAKT_ALIGN_FIRST_USE};

    for (int i = 0; i < 2; i++) {
        takt_rule rule = window_of(60, MINUTE, aligns[i]);
        int64_t now_us = START + 30 * SECOND;
        kept k;
        keep(&k, rule, START);
        take_from(&k, now_us + 10 * SECOND, 60);
        takt_fixed_window.pull_back(&rule, &k.state, now_us, 10 * SECOND, 250 * MS);
        cr_expect_gt(takt_fixed_window.earliest(&rule, &k.state, now_us, 1), now_us + 29 * SECOND,
                     "as far ahead as slots can be awarded");
        keep(&k, rule, START + HOUR);
        take_from(&k, START + HOUR, 60);
        takt_fixed_window.pull_back(&rule, &k.state, now_us, 10 * SECOND, 250 * MS);
        cr_expect_eq(takt_fixed_window.room(&rule, &k.state, now_us + 250 * MS, now_us + 250 * MS),
                     30, "no fresh burst and no hour's wait");
        let_go(&k);
    }
}

Test(fixed_window, changed_numbers_keep_what_was_taken)
{
    static const struct {
        int64_t limit, period_us, to_limit, to_period_us, taken, taken_us, now_us, room;
    } rows[] = {
        {100, MINUTE, 200, MINUTE, 70, 10 * SECOND, 20 * SECOND, 130},
        {100, MINUTE, 50, MINUTE, 70, 10 * SECOND, 20 * SECOND, 0},
        {100, MINUTE, 100, MINUTE, 70, 10 * SECOND, MINUTE, 100},
        {100, MINUTE, 10, SECOND, 70, 10 * SECOND, 20 * SECOND, 0}, /* taken when? */
        {10, SECOND, 600, MINUTE, 4, 20 * SECOND, 20 * SECOND,
         600 - 204}, /* 200 may have been before */
        {10, SECOND, 6000, MINUTE, 4, 20 * SECOND, 20 * SECOND, 6000 - 204},
        {1000, SECOND, 600, MINUTE, 4, 20 * SECOND, 20 * SECOND, 600 - 204},
        {100, MINUTE, 100, HOUR, 70, 10 * SECOND, 20 * SECOND, -1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule from = window_of(rows[i].limit, rows[i].period_us, TAKT_ALIGN_CLOCK);
        takt_rule to = window_of(rows[i].to_limit, rows[i].to_period_us, TAKT_ALIGN_CLOCK);
        int64_t now_us = START + rows[i].now_us, room;
        kept k;
        keep(&k, from, START);
        take_from(&k, START + rows[i].taken_us, rows[i].taken);
        takt_fixed_window.convert(&from, &to, &k.state, now_us);
        room = takt_fixed_window.room(&to, &k.state, now_us, now_us);
        cr_expect(rows[i].room < 0 ? room <= 30 : room == rows[i].room, "row %zu: %" PRId64, i,
                  room);
        k.rule = to;
        through_text(&k);
        let_go(&k);
    }
}

Test(fixed_window, alignments_change)
{
    takt_rule clock = window_of(10, MINUTE, TAKT_ALIGN_CLOCK);
    takt_rule use = window_of(10, MINUTE, TAKT_ALIGN_FIRST_USE);
    kept k;

    keep(&k, clock, START);
    take_from(&k, START + 50 * SECOND, 4);
    takt_fixed_window.convert(&clock, &use, &k.state, START + 55 * SECOND);
    cr_expect_eq(takt_fixed_window.room(&use, &k.state, START + 70 * SECOND, START + 70 * SECOND),
                 6, "as if the next token were the first");
    k.rule = use;
    take_from(&k, START + 70 * SECOND, 6);
    cr_expect_eq(take_from(&k, START + 80 * SECOND, 1), START + 130 * SECOND);
    takt_fixed_window.convert(&use, &clock, &k.state, START + 81 * SECOND);
    cr_expect_eq(
        takt_fixed_window.room(&clock, &k.state, START + 90 * SECOND, START + 119 * SECOND), 0,
        "the last window lies ahead");
    cr_expect_eq(takt_fixed_window.room(&clock, &k.state, START + 2 * MINUTE, START + 2 * MINUTE),
                 9);
    let_go(&k);
}

Test(fixed_window, texts_that_are_none)
{
    static const char *const texts[] = {
        "f/60000000 0,0",
        "f3/0 0,0",
        "f3/60000000 0",
        "f3/60000000 0,1000000001",
        "f3/60000000 0~1",
        "f3/60000000! 0.1",
        "f3/60000000!@UTC 0,1",
        "f3/60000000@ 0,1",
        "f3/60000000@Nowhere 0,1",
        "f3/7000000@UTC 0,1",
        "f3/60000000@../UTC 0,1",
        "f3/60000000 -1,1",
        "f3/60000000 9007199254740993,1",
        "f1000000001/60000000 0,0",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        takt_reader reader = {texts[i], texts[i] + strlen(texts[i]), false};
        takt_rule_state state = {.pages = NULL};
        takt_rule rule;
        takt_rule_read(&rule, &state, &reader);
        cr_expect_not(takt_read_done(&reader), "%s", texts[i]);
    }
}
