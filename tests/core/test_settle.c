/*
 * Settling: with the real costs put in, the rules stay within their promise; additional tokens are
 * charged, and returned tokens can be taken. Also takt_lower.
 */
#include <string.h>

#include "base/memory_pages.h"
#include "base/random.h"
#include "core/books.h"
#include "core/ledger_text.h"
#include "seed.h"

static takt_numbers limit_by(const takt_algorithm *algorithm, int64_t tokens, int64_t period_us)
{
    takt_numbers limit = {.rule_count = 1, .lookahead_us = TAKT_LOOKAHEAD_US};

    limit.rules[0] = (takt_rule){.algorithm = algorithm, .limit = tokens, .period_us = period_us};
    cr_assert_eq(takt_rule_prepare(&limit.rules[0], NULL), 0);
    return limit;
}

static int64_t remaining(book *b, int64_t at_us)
{
    takt_standing standing;

    takt_ledger_peek(&b->ledger, NOW + at_us, &standing);
    return standing.remaining;
}

static void take(book *b, int64_t at_us, int64_t cost)
{
    int64_t retry_us;

    cr_assert(takt_ledger_try(&b->ledger, NOW + at_us, cost, TAKT_NO_MORE, &retry_us));
}

Test(settle, what_was_not_used_can_be_taken)
{
    static const struct {
        const takt_algorithm *algorithm;
        int64_t settled_us, left; /* of 100, 40 of which were taken at once; 10 were needed */
    } rows[] = {
        {&takt_token_bucket, 0, 90},           {&takt_token_bucket, SECOND, 91},
        {&takt_fixed_window, 30 * SECOND, 90}, {&takt_sliding_window, 30 * SECOND, 90},
        {&takt_sliding_log, 30 * SECOND, 90},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        open_book(&b, limit_by(rows[i].algorithm, 100, 100 * SECOND));
        take(&b, 0, 40);
        cr_assert_eq(remaining(&b, 0), 60);
        settle_one(&b.ledger, NOW + rows[i].settled_us, NOW, 40, 10);
        cr_assert_eq(remaining(&b, rows[i].settled_us), rows[i].left, "row %zu: %" PRId64, i,
                     remaining(&b, rows[i].settled_us));
    }
}

Test(settle, what_was_used_beyond_is_paid_for)
{
    static const struct {
        const takt_algorithm *algorithm;
        int64_t left, again_us; /* of 100, 40 of which were taken at once, 110 were used */
    } rows[] = {
        {&takt_token_bucket, 0, 10 * SECOND + SECOND}, /* it owes ten */
        {&takt_fixed_window, 0, 100 * SECOND},
        {&takt_sliding_log, 0, 100 * SECOND},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        takt_standing standing;
        open_book(&b, limit_by(rows[i].algorithm, 100, 100 * SECOND));
        take(&b, 0, 40);
        settle_one(&b.ledger, NOW, NOW, 40, 110);
        takt_ledger_peek(&b.ledger, NOW, &standing);
        cr_assert_eq(standing.remaining, rows[i].left, "row %zu", i);
        cr_assert_eq(standing.retry_after_us, rows[i].again_us, "row %zu: %" PRId64, i,
                     standing.retry_after_us);
    }
}

/* However much it is, and however often the ledger is looked at meanwhile. */
Test(settle, a_debt_is_owed_in_full)
{
    static book b;
    takt_standing standing;

    open_book(&b, limit_by(&takt_token_bucket, 100, 100 * SECOND));
    take(&b, 0, 1);
    settle_one(&b.ledger, NOW, NOW, 1, 1000000);
    for (int64_t at_us = 0; at_us < 900000 * SECOND; at_us += 100000 * SECOND) {
        takt_ledger_peek(&b.ledger, NOW + at_us, &standing);
        cr_assert_eq(standing.retry_after_us, 999901 * SECOND - at_us, "%" PRId64,
                     standing.retry_after_us);
    }
    cr_assert_eq(remaining(&b, 1000000 * SECOND), 100);
}

/* The next windows pay the debt, also windows without requests. */
Test(settle, a_debt_is_carried_into_the_next_windows)
{
    static const takt_algorithm *const algorithms[] = {&takt_fixed_window, &takt_sliding_log};
    static const int64_t left[] = {0, 0, 50, 100};

    for (size_t i = 0; i < COUNT(algorithms); i++)
        for (int first_use = 0; first_use < (i == 0 ? 2 : 1); first_use++) {
            static book b;
            takt_numbers limit = limit_by(algorithms[i], 100, 100 * SECOND);
            limit.rules[0].align = first_use ? TAKT_ALIGN_FIRST_USE : TAKT_ALIGN_DEFAULT;
            cr_assert_eq(takt_rule_prepare(&limit.rules[0], NULL), 0);
            open_book(&b, limit);
            take(&b, 0, 40);
            settle_one(&b.ledger, NOW, NOW, 40, 250);
            for (int period = 0; period < 4; period++)
                cr_assert_eq(remaining(&b, period * 100 * SECOND), left[period],
                             "row %zu, period %d: %" PRId64, i, period,
                             remaining(&b, period * 100 * SECOND));
            open_book(&b, limit);
            take(&b, 0, 40);
            settle_one(&b.ledger, NOW, NOW, 40, 250);
            cr_assert_eq(remaining(&b, 1000 * SECOND), 100, "row %zu: nobody asked", i);
        }
}

/* A window opens with work: not when an excess becomes known, nor when it is paid. */
Test(settle, no_window_opens_with_a_debt)
{
    static const int64_t excess[] = {30, 130};

    for (size_t i = 0; i < COUNT(excess); i++) {
        static book b;
        takt_numbers limit = limit_by(&takt_fixed_window, 100, 100 * SECOND);
        int64_t from_us = (int64_t)i * 100 * SECOND;
        limit.rules[0].align = TAKT_ALIGN_FIRST_USE;
        cr_assert_eq(takt_rule_prepare(&limit.rules[0], NULL), 0);
        open_book(&b, limit);
        take(&b, 0, 40);
        settle_one(&b.ledger, NOW + 150 * SECOND, NOW, 40, 40 + excess[i]);
        cr_assert_eq(remaining(&b, from_us + 160 * SECOND), 70);
        take(&b, from_us + 190 * SECOND, 70);
        cr_assert_eq(remaining(&b, from_us + 289 * SECOND), 0, "it opened at 190 s");
        cr_assert_eq(remaining(&b, from_us + 290 * SECOND), 100);
    }
}

/* Claims for slots ahead get none that would delay the payment of a debt. */
Test(settle, no_slot_goes_before_a_debt)
{
    static book b;
    takt_numbers limit = limit_by(&takt_fixed_window, 10, SECOND / 10);

    open_book(&b, limit);
    take(&b, 0, 10);
    settle_one(&b.ledger, NOW, NOW, 10, 25);
    say(&b, MS, 1, 5, 1, 100);
    cr_assert_eq(b.given, 5, "of 20 by 250 ms 15 are owed: %" PRId64, b.given);
    cr_assert_eq(b.first_us, 200 * MS);
    say(&b, 300 * MS, 1, 5, 1, 100);
    cr_assert_eq(b.given, 30, "of all windows up to 500 ms: %" PRId64, b.given);
}

/* A clock that jumps back makes no debt longer, nor does it forgive one. */
Test(settle, a_debt_is_no_jump_of_a_clock)
{
    static const takt_algorithm *const algorithms[] = {&takt_token_bucket, &takt_fixed_window,
                                                       &takt_sliding_window};

    for (size_t i = 0; i < COUNT(algorithms); i++)
        for (int64_t jump_us = 0; jump_us <= 10000 * SECOND; jump_us += 5000 * SECOND) {
            static book b;
            takt_standing standing;
            open_book(&b, limit_by(algorithms[i], 100, 100 * SECOND));
            take(&b, 0, 100);
            settle_one(&b.ledger, NOW, NOW, 100, 1100);
            takt_ledger_peek(&b.ledger, NOW - jump_us, &standing);
            cr_assert_geq(standing.retry_after_us, 980 * SECOND, "row %zu: %" PRId64, i,
                          standing.retry_after_us);
            cr_assert_leq(standing.retry_after_us, 1220 * SECOND, "row %zu: %" PRId64, i,
                          standing.retry_after_us);
        }
}

Test(settle, a_reset_forgets_a_debt)
{
    static const takt_algorithm *const algorithms[] = {&takt_token_bucket, &takt_fixed_window,
                                                       &takt_sliding_window, &takt_sliding_log};

    for (size_t i = 0; i < COUNT(algorithms); i++) {
        static book b;
        open_book(&b, limit_by(algorithms[i], 100, 100 * SECOND));
        settle_one(&b.ledger, NOW, NOW, 1, 1000);
        cr_assert_eq(remaining(&b, 0), 0);
        takt_ledger_reset(&b.ledger, NOW);
        cr_assert_eq(remaining(&b, 0), 100);
    }
}

/* Half of the payment time under the old numbers, as these are half of the new ones. */
Test(settle, a_debt_is_of_tokens_and_outlives_its_numbers)
{
    static const takt_algorithm *const algorithms[] = {&takt_token_bucket, &takt_fixed_window,
                                                       &takt_sliding_log};
    static book b;

    for (size_t i = 0; i < COUNT(algorithms); i++) {
        takt_numbers newer = limit_by(algorithms[i], 200, 100 * SECOND);
        takt_standing standing;
        newer.revision = 1;
        open_book(&b, limit_by(algorithms[i], 100, 100 * SECOND));
        take(&b, 0, 100);
        settle_one(&b.ledger, NOW, NOW, 100, 1100);
        takt_ledger_adopt(&b.ledger, &newer, NOW);
        takt_ledger_peek(&b.ledger, NOW, &standing);
        cr_assert_geq(standing.retry_after_us, 400 * SECOND, "row %zu: %" PRId64, i,
                      standing.retry_after_us);
        cr_assert_leq(standing.retry_after_us, 600 * SECOND, "row %zu: %" PRId64, i,
                      standing.retry_after_us);
    }
}

Test(settle, a_debt_stands_in_the_text)
{
    static const takt_algorithm *const algorithms[] = {&takt_token_bucket, &takt_fixed_window,
                                                       &takt_sliding_window};

    for (size_t i = 0; i < COUNT(algorithms); i++) {
        static book b;
        char text[1000], again[1000];
        takt_numbers kept;
        size_t size;
        int64_t before;
        open_book(&b, limit_by(algorithms[i], 100, 100 * SECOND));
        settle_one(&b.ledger, NOW, NOW, 1, 1000);
        before = takt_numbers_earliest(&b.limit, &b.ledger.state, NOW, takt_amounts_of_cost(7));
        size = takt_ledger_encode(&b.ledger, text, sizeof text);
        cr_assert_neq(memchr(text, '!', size), NULL);
        cr_assert_eq(takt_ledger_decode(&b.ledger, &b.limit, &kept, NOW, text, size), 0);
        cr_assert_eq(takt_numbers_earliest(&b.limit, &b.ledger.state, NOW, takt_amounts_of_cost(7)),
                     before);
        cr_assert_eq(takt_ledger_encode(&b.ledger, again, sizeof again), size);
        cr_assert_arr_eq(text, again, size);
        cr_assert_eq(takt_ledger_expires_at(&b.ledger) >= before, true);
    }
}

Test(settle, the_last_slot_is_given_back_whole)
{
    static book b;

    open_book(&b, limit_of(10, SECOND, 1));
    say(&b, 0, 1, 5, 1, 3);
    cr_assert_eq(b.given, 3, "at 0, 100 and 200 ms");
    settle_one(&b.ledger, NOW + MS, NOW + 200 * MS, 1, 0);
    settle_one(&b.ledger, NOW + MS, NOW, 1, 0); /* others came after it */
    say(&b, MS, 2, 5, 1, 3);
    cr_assert_eq(b.given, 1);
    cr_assert_eq(b.first_us, 200 * MS);
}

/* A bucket keeps only the tokens that other workers may have used since. */
Test(settle, of_a_slow_rate_little_is_kept)
{
    static book b;
    takt_standing standing;

    open_book(&b, limit_by(&takt_token_bucket, 2, 2 * DAY));
    take(&b, 0, 1);
    take(&b, 0, 1);
    settle_one(&b.ledger, NOW + SECOND, NOW, 1, 0);
    takt_ledger_peek(&b.ledger, NOW + SECOND, &standing);
    cr_assert_eq(standing.retry_after_us, TAKT_LOOKAHEAD_US + 1, "%" PRId64,
                 standing.retry_after_us);
}

/* A call should not be settled twice, nor after a reset. */
Test(settle, what_is_not_there_is_not_given_back)
{
    static book b;
    takt_standing standing;

    open_book(&b, limit_of(10, SECOND, 1));
    say(&b, 0, 1, 5, 1, 3);
    cr_assert_eq(b.given, 3, "at 0, 100 and 200 ms");
    for (int i = 0; i < 3; i++)
        settle_one(&b.ledger, NOW + MS, NOW + 200 * MS, 1, 0);
    takt_ledger_peek(&b.ledger, NOW + MS, &standing);
    cr_assert_eq(standing.retry_after_us, 199 * MS);
    takt_ledger_reset(&b.ledger, NOW + 50 * MS);
    take(&b, 50 * MS, 1);
    settle_one(&b.ledger, NOW + 50 * MS, NOW + 100 * MS, 1, 0);
    takt_ledger_peek(&b.ledger, NOW + 50 * MS, &standing);
    cr_assert_eq(standing.retry_after_us, 100 * MS);
}

Test(settle, the_only_slot_of_a_log_is_given_back_whole)
{
    static takt_memory_pages pages;
    static book b;

    open_book(&b, limit_by(&takt_sliding_log, 2, 100 * SECOND));
    takt_memory_pages_init(&pages);
    takt_numbers_begin(&b.ledger.state, &pages.pages);
    takt_ledger_reset(&b.ledger, NOW);
    take(&b, 0, 2);
    settle_one(&b.ledger, NOW + MS, NOW, 2, 0);
    cr_assert_eq(remaining(&b, MS), 2);
    take(&b, MS, 1);
    take(&b, 2 * MS, 1);
    settle_one(&b.ledger, NOW + 3 * MS, NOW + 2 * MS, 1, 0);
    cr_assert_eq(remaining(&b, 3 * MS), 0, "one before it: a token of it stays");
    take(&b, 100 * SECOND + MS, 1);
    cr_assert_eq(remaining(&b, 100 * SECOND + MS), 0);
    takt_memory_pages_close(&pages);
}

/* For each entry: the log is as if it had been written with the real costs; only one token of a
 * call stays, if later entries count it. */
Test(settle, each_entry_of_a_log_is_given_back)
{
    uint64_t random = test_seed(5);

    for (int round = 0; round < 50; round++) {
        static takt_memory_pages pages;
        static taken slots[1500];
        static book b;
        int64_t now_us = NOW;
        int count = 0, given_back = 0;
        open_book(&b, limit_by(&takt_sliding_log, 2000, 100 * SECOND));
        takt_memory_pages_init(&pages);
        takt_numbers_begin(&b.ledger.state, &pages.pages);
        takt_ledger_reset(&b.ledger, now_us);
        while (count < 1500) {
            int64_t sum = 0, retry_us, cost = 2 + takt_random_below(&random, 10);
            now_us += 1 + takt_random_below(&random, SECOND / 4);
            for (int i = 0; i < count; i++)
                sum += slots[i].slot_us > now_us - 100 * SECOND ? slots[i].cost : 0;
            cr_assert_eq(takt_ledger_try(&b.ledger, now_us, cost, TAKT_NO_MORE, &retry_us),
                         sum + cost <= 2000, "round %d, slot %d", round, count);
            if (sum + cost <= 2000)
                slots[count++] = (taken){now_us, cost};
            if (takt_random_below(&random, 2)) {
                taken *slot = &slots[count - 1 - takt_random_below(&random, takt_min(count, 900))];
                int64_t actual = 1 + takt_random_below(&random, slot->cost);
                settle_one(&b.ledger, now_us, slot->slot_us, slot->cost, actual);
                given_back += actual < slot->cost;
                slot->cost = actual;
            }
        }
        cr_assert_gt(given_back, 100);
        cr_assert_eq(pages.pages.trouble, TAKT_PAGES_FINE);
        takt_memory_pages_close(&pages);
    }
}

/* A future slot is given back: its wait still counts until then. */
Test(settle, what_was_to_come_is_taken_again_when_it_was_due)
{
    static const struct {
        const takt_algorithm *algorithm;
        takt_align align;
    } rows[] = {
        {&takt_token_bucket, TAKT_ALIGN_DEFAULT},
        {&takt_fixed_window, TAKT_ALIGN_CLOCK},
        {&takt_fixed_window, TAKT_ALIGN_FIRST_USE},
        {&takt_sliding_log, TAKT_ALIGN_DEFAULT},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        takt_numbers limit = {.rule_count = 1, .lookahead_us = SECOND};
        int64_t due_us;
        limit.rules[0] = (takt_rule){.algorithm = rows[i].algorithm,
                                     .limit = 1,
                                     .period_us = 10 * SECOND,
                                     .align = rows[i].align};
        cr_assert_eq(takt_rule_prepare(&limit.rules[0], NULL), 0);
        open_book(&b, limit);
        take(&b, 0, 1);
        due_us =
            takt_numbers_earliest(&b.limit, &b.ledger.state, NOW, takt_amounts_of_cost(1)) - NOW;
        for (int again = 0; again < 3; again++) {
            say(&b, due_us - SECOND / 2, 1, 5, 1, 1);
            cr_assert_eq(b.given, 1, "row %zu", i);
            cr_assert_eq(b.first_us, due_us, "row %zu: %" PRId64, i, b.first_us);
            settle_one(&b.ledger, NOW + due_us - SECOND / 2, NOW + due_us, 1, 0);
        }
    }
}

/* Nothing that is given back lets more start than the promise allows, with real costs. */
Test(settle, the_promise_holds_with_real_costs)
{
    uint64_t random = test_seed(7);

    for (int round = 0; round < (int)test_rounds(300); round++) {
        static taken slots[2000];
        int64_t burst = 1 + takt_random_below(&random, 40), now_us = NOW, given_back = 0;
        takt_numbers limit = limit_of(1 + takt_random_below(&random, 30), SECOND, burst);
        static book b;
        int count = 0;
        open_book(&b, limit);
        while (count < 200) {
            int64_t retry_us, cost = 1 + takt_random_below(&random, burst);
            int settled = (int)takt_random_below(&random, count + 1);
            now_us += takt_random_below(&random, 3) ? 0 : takt_random_below(&random, SECOND);
            if (takt_random_below(&random, 2) && settled < count && slots[settled].cost > 0) {
                int64_t actual = takt_random_below(&random, slots[settled].cost + 1);
                settle_one(&b.ledger, now_us, slots[settled].slot_us, slots[settled].cost, actual);
                given_back += slots[settled].cost - actual;
                slots[settled].cost = actual;
            } else if (takt_ledger_try(&b.ledger, now_us, cost, TAKT_NO_MORE, &retry_us)) {
                slots[count++] = (taken){now_us, cost};
            }
        }
        cr_assert_gt(given_back, 0);
        cr_assert_eq(broken_promise(&limit.rules[0], slots, count), -1, "round %d", round);
    }
}

/* As with calls that last: work never ends, and what each has cost is known when it is over.  Slots
 * are given now and ahead. */
Test(settle, the_promise_holds_where_calls_last)
{
    uint64_t random = test_seed(8);

    for (int round = 0; round < (int)test_rounds(300); round++) {
        int64_t burst = 1 + takt_random_below(&random, 40), now_us = NOW;
        int64_t lasts_us = 1 + takt_random_below(&random, 3 * SECOND);
        int idle = (int)takt_random_below(&random, 3), settled = 0;
        takt_numbers limit = limit_of(1 + takt_random_below(&random, 30), SECOND, burst);
        static book b;
        int64_t given_back = 0;
        open_book(&b, limit);
        while (b.slot_count < 300) {
            int32_t cost = (int32_t)(1 + takt_random_below(&random, burst));
            int64_t retry_us, actual;
            now_us += takt_random_below(&random, SECOND / 4);
            if (idle > 0 && takt_random_below(&random, 20) == 0)
                now_us += takt_random_below(&random, idle * SECOND);
            for (; settled < b.slot_count && b.slots[settled].slot_us + lasts_us <= now_us;
                 settled++) {
                actual = takt_random_below(&random, b.slots[settled].cost + 1);
                settle_one(&b.ledger, now_us, b.slots[settled].slot_us, b.slots[settled].cost,
                           actual);
                given_back += b.slots[settled].cost - actual;
                b.slots[settled].cost = actual;
            }
            if (takt_random_below(&random, 2))
                say(&b, now_us - NOW, 1, 5, cost, 1 + takt_random_below(&random, 3));
            else if (takt_ledger_try(&b.ledger, now_us, cost, TAKT_NO_MORE, &retry_us))
                b.slots[b.slot_count++] = (taken){now_us, cost};
        }
        cr_assert_gt(given_back, 0);
        cr_assert_eq(broken_promise(&limit.rules[0], b.slots, b.slot_count), -1, "round %d", round);
    }
}

Test(settle, a_vendor_has_less_left)
{
    static const takt_algorithm *const algorithms[] = {&takt_token_bucket, &takt_fixed_window,
                                                       &takt_sliding_window, &takt_sliding_log};

    for (size_t i = 0; i < COUNT(algorithms); i++) {
        static book b;
        open_book(&b, limit_by(algorithms[i], 100, 100 * SECOND));
        take(&b, 0, 40);
        takt_ledger_lower(&b.ledger, NOW, (takt_amounts){{75, -1}});
        cr_assert_eq(remaining(&b, 0), 60, "row %zu: it never adds any", i);
        takt_ledger_lower(&b.ledger, NOW, (takt_amounts){{25, -1}});
        cr_assert_eq(remaining(&b, 0), 25, "row %zu", i);
        takt_ledger_lower(&b.ledger, NOW, (takt_amounts){{25, -1}});
        cr_assert_eq(remaining(&b, 0), 25, "row %zu: another has heard the same", i);
        take(&b, 0, 5);
        takt_ledger_lower(&b.ledger, NOW, (takt_amounts){{25, -1}});
        cr_assert_eq(remaining(&b, 0), 20, "row %zu: what is under way is charged once", i);
        takt_ledger_lower(&b.ledger, NOW, (takt_amounts){{0, -1}});
        cr_assert_eq(remaining(&b, 0), 0, "row %zu", i);
    }
}

Test(settle, of_several_rules_the_least_is_lowered_to)
{
    static book b;
    takt_numbers limit = limit_by(&takt_fixed_window, 100, 100 * SECOND);

    limit.rules[limit.rule_count++] = limit_by(&takt_sliding_log, 20, SECOND).rules[0];
    open_book(&b, limit);
    takt_ledger_lower(&b.ledger, NOW, (takt_amounts){{5, -1}});
    cr_assert_eq(remaining(&b, 0), 5);
    cr_assert_eq(remaining(&b, SECOND), 20, "of the window that is longer, 15 are gone");
}
