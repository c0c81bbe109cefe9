/*
 * Tokens counted while somebody watches: which calls count, for how long, and that no count remains
 * afterwards.
 */
#include "core/books.h"
#include "core/ledger_text.h"

static takt_standing peek(book *b, int64_t at_us)
{
    takt_standing standing;

    takt_ledger_peek(&b->ledger, NOW + at_us, &standing);
    return standing;
}

static void take(book *b, int64_t at_us, int64_t cost)
{
    int64_t retry_us;

    cr_assert(takt_ledger_try(&b->ledger, NOW + at_us, cost, TAKT_NO_MORE, &retry_us));
}

Test(meter, what_is_taken_is_counted_while_somebody_looks)
{
    static book b;
    int64_t retry_us;

    open_book(&b, limit_of(100, SECOND, 100));
    take(&b, 0, 10);
    cr_assert_eq(peek(&b, 0).watched_since_us, 0);
    cr_assert_eq(peek(&b, 0).taken, 0, "nobody looked");
    takt_ledger_watch(&b.ledger, NOW + MS, 10 * SECOND);
    cr_assert_eq(peek(&b, MS).watched_since_us, NOW + MS);
    cr_assert_eq(peek(&b, MS).taken, 0, "what was taken before is not counted");
    take(&b, MS, 7);
    say(&b, MS, 1, 5, 3, 4);
    cr_assert_eq(b.given, 4);
    cr_assert_eq(peek(&b, MS).taken, 7 + 12);
    cr_assert_not(takt_ledger_try(&b.ledger, NOW + MS, 100, TAKT_NO_MORE, &retry_us));
    cr_assert_eq(peek(&b, MS).taken, 19, "a refusal takes nothing");
    settle_one(&b.ledger, NOW + MS, NOW + MS, 7, 9);
    cr_assert_eq(peek(&b, MS).taken, 21, "it has cost more");
    settle_one(&b.ledger, NOW + MS, NOW + MS, 9, 4);
    cr_assert_eq(peek(&b, MS).taken, 16, "or less");
    settle_one(&b.ledger, NOW + MS, NOW, 100, 0);
    cr_assert_eq(peek(&b, MS).taken, 0, "never below nothing");
}

Test(meter, permits_are_counted)
{
    static book b;
    takt_numbers limit = {.lookahead_us = 250 * MS, .concurrency = 3, .lease_us = 30 * SECOND};
    takt_claim claim = {.worker = 7, .seq = 1};
    int64_t retry_us;

    open_book(&b, limit);
    takt_ledger_watch(&b.ledger, NOW, SECOND);
    say(&b, 0, 1, 5, 1, 2);
    cr_assert_eq(peek(&b, 0).taken, 2);
    cr_assert(takt_ledger_try_permit(&b.ledger, NOW, &claim, 1, TAKT_NO_MORE, &retry_us, &b.award));
    cr_assert_eq(peek(&b, 0).taken, 3);
    cr_assert_eq(peek(&b, 0).held, 3);
}

/* Looks at times after NOW, each for so long, and what a token taken just before finds. */
Test(meter, it_lasts_until_the_last_of_them_asked_for)
{
    static const struct {
        int64_t at_us, for_us, since_us, taken;
    } rows[] = {{0, SECOND, 0, 0},          {SECOND / 2, 3 * SECOND, 0, 1},
                {SECOND, MS, 0, 2},         /* a shorter watch does not end another's */
                {3 * SECOND, SECOND, 0, 3}, /* until 4 s */
                {4 * SECOND, SECOND, 4, 0}, /* the watch is over: another begins */
                {5 * SECOND - 1, MS, 4, 1}};
    static book b;

    open_book(&b, limit_of(100, SECOND, 100));
    for (size_t i = 0; i < COUNT(rows); i++) {
        take(&b, rows[i].at_us, 1);
        takt_ledger_watch(&b.ledger, NOW + rows[i].at_us, rows[i].for_us);
        cr_assert_eq(peek(&b, rows[i].at_us).watched_since_us, NOW + rows[i].since_us * SECOND,
                     "row %zu", i);
        cr_assert_eq(peek(&b, rows[i].at_us).taken, rows[i].taken, "row %zu", i);
    }
}

Test(meter, nothing_is_left_of_it)
{
    static book b, plain;
    char text[1000], other[1000];
    size_t size;

    open_book(&b, limit_of(10, SECOND, 5));
    open_book(&plain, limit_of(10, SECOND, 5));
    takt_ledger_watch(&b.ledger, NOW, 3 * SECOND);
    cr_assert_eq(takt_ledger_expires_at(&b.ledger), NOW + 3 * SECOND, "it is kept, though at rest");
    take(&b, 2 * SECOND, 1);
    take(&plain, 2 * SECOND, 1);
    takt_ledger_tidy(&b.ledger, NOW + 3 * SECOND);
    takt_ledger_tidy(&plain.ledger, NOW + 3 * SECOND);
    size = takt_ledger_encode(&b.ledger, text, sizeof text);
    cr_assert_eq(takt_ledger_encode(&plain.ledger, other, sizeof other), size);
    cr_assert_arr_eq(text, other, size);
    cr_assert_leq(takt_ledger_expires_at(&b.ledger), NOW + 3 * SECOND);
}

Test(meter, the_count_of_another_clock_is_forgotten)
{
    static const struct {
        int64_t at_us;
        bool on;
    } rows[] = {{1, true},
                {-1, false},    /* before it began */
                {-HOUR, false}, /* it would last for an hour */
                {TAKT_WATCH_MAX_US, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        open_book(&b, limit_of(10, SECOND, 5));
        takt_ledger_watch(&b.ledger, NOW, TAKT_WATCH_MAX_US);
        cr_assert_eq(peek(&b, rows[i].at_us).watched_since_us > 0, rows[i].on, "row %zu", i);
    }
}

Test(meter, a_count_has_an_end)
{
    static book b;
    const int64_t big = INT64_C(1) << 53;

    open_book(&b, limit_of(10, SECOND, 5));
    takt_ledger_watch(&b.ledger, NOW, SECOND);
    b.ledger.meter.taken = big - 1;
    take(&b, 0, 3);
    cr_assert_eq(peek(&b, 0).taken, big);
}
