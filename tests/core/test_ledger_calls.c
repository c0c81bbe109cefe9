/*
 * Blocks, tries, looks, resets, and when a ledger expires.
 */
#include "core/books.h"

static takt_standing peek(book *b, int64_t at_us)
{
    takt_standing standing;

    takt_ledger_peek(&b->ledger, NOW + at_us, &standing);
    return standing;
}

Test(ledger_calls, no_slot_lies_in_a_block_and_no_burst_follows_it)
{
    static const int64_t blocks_us[] = {5 * SECOND, 5250 * MS, 5251 * MS, MINUTE, HOUR};
    for (size_t i = 0; i < COUNT(blocks_us); i++) {
        static book b;
        open_book(&b, limit_of(10, SECOND, 50));
        takt_ledger_block(&b.ledger, NOW, blocks_us[i], NULL);
        cr_assert_eq(peek(&b, 0).blocked_until_us, NOW + blocks_us[i]);
        cr_assert_eq(peek(&b, 0).remaining, 0);
        cr_assert_eq(peek(&b, 0).retry_after_us, blocks_us[i]);
        work_alone(&b, 1, 0, blocks_us[i] + 5 * SECOND - TAKT_LOOKAHEAD_US);
        cr_assert_gt(b.slot_count, 45);
        for (int j = 0; j < b.slot_count; j++)
            cr_assert_eq(b.slots[j].slot_us, NOW + blocks_us[i] + j * 100 * MS,
                         "block %zu, slot %d: %" PRId64, i, j, b.slots[j].slot_us - NOW);
        cr_assert_eq(peek(&b, blocks_us[i] + 5 * SECOND).blocked_until_us, 0);
    }
}

/* The same without claims during the block: saved tokens are lost as well. */
Test(ledger_calls, a_block_that_nobody_saw_leaves_no_burst)
{
    static book b;

    open_book(&b, limit_of(10, SECOND, 50));
    takt_ledger_block(&b.ledger, NOW, MINUTE, NULL);
    say(&b, MINUTE, 1, 5, 1, 1000);
    cr_assert_eq(b.given, 3);
    open_book(&b, limit_of(10, SECOND, 50));
    takt_ledger_block(&b.ledger, NOW, MINUTE, NULL);
    say(&b, MINUTE + SECOND, 1, 5, 1, 1000);
    cr_assert_eq(b.given, 13, "what has come in since the end of the block");
}

Test(ledger_calls, a_block_only_ever_extends)
{
    static const struct {
        int64_t at_us, for_us, until_us;
    } rows[] = {{0, 10 * SECOND, 10 * SECOND},         {SECOND, 5 * SECOND, 10 * SECOND},
                {2 * SECOND, 8 * SECOND, 10 * SECOND}, {3 * SECOND, 8 * SECOND, 11 * SECOND},
                {3 * SECOND, 0, 11 * SECOND},          {12 * SECOND, SECOND, 13 * SECOND}};
    static book b;
    open_book(&b, limit_of(10, SECOND, 1));
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_ledger_block(&b.ledger, NOW + rows[i].at_us, rows[i].for_us, NULL);
        say(&b, rows[i].at_us, 1, 5, 1, 1);
        cr_assert_eq(b.award.blocked_until_us, NOW + rows[i].until_us, "row %zu", i);
        cr_assert_eq(b.award.next_slot_at_us, NOW + rows[i].until_us, "row %zu", i);
        cr_assert_eq(b.given, 0);
    }
}

Test(ledger_calls, unblock_ends_a_block_without_a_burst)
{
    static book b;

    open_book(&b, limit_of(10, SECOND, 50));
    takt_ledger_unblock(&b.ledger, NOW); /* nothing was blocked: the burst stays */
    cr_assert_eq(peek(&b, 0).remaining, 50);
    takt_ledger_block(&b.ledger, NOW, HOUR, NULL);
    takt_ledger_unblock(&b.ledger, NOW + 2 * SECOND);
    cr_assert_eq(peek(&b, 2 * SECOND).blocked_until_us, 0);
    cr_assert_eq(peek(&b, 2 * SECOND).remaining, 1);
    work_alone(&b, 1, 2 * SECOND, 4 * SECOND - TAKT_LOOKAHEAD_US);
    cr_assert_gt(b.slot_count, 15);
    for (int j = 0; j < b.slot_count; j++)
        cr_assert_eq(b.slots[j].slot_us, NOW + 2 * SECOND + j * 100 * MS);
}

Test(ledger_calls, those_who_wait_keep_their_turns_through_a_block)
{
    static book b;

    open_book(&b, limit_of(10, SECOND, 1));
    say(&b, 0, 1, 5, 1, 30);
    say(&b, 0, 2, 5, 1, 30);
    say(&b, 0, 3, 5, 1, 30);
    takt_ledger_block(&b.ledger, NOW, SECOND, NULL);
    cr_assert_eq(line_digits(&b), 123);
    say(&b, 50 * MS, 1, 5, 1, 27);
    cr_assert_eq(b.given, 0);
    cr_assert_eq(b.award.claim_again_at_us, NOW + 750 * MS, "for the first slot after it");
    say(&b, 60 * MS, 2, 5, 1, 30);
    cr_assert_eq(b.award.claim_again_at_us, NOW + 850 * MS, "for the second");
    cr_assert_eq(line_digits(&b), 123);
}

Test(ledger_calls, try_takes_what_is_there_now_and_nothing_otherwise)
{
    static const struct {
        int64_t at_us, cost;
        bool taken;
        int64_t retry_us; /* after NOW */
    } rows[] = {{0, 3, true, 0},
                {0, 3, false, 100 * MS},
                {0, 3, false, 100 * MS}, /* refusals are free */
                {0, 2, true, 0},
                {0, 1, false, 100 * MS},
                {99 * MS, 1, false, 100 * MS},
                {100 * MS, 1, true, 100 * MS},
                {SECOND, 6, false, TAKT_NEVER - NOW},
                {SECOND, 5, true, SECOND}};
    static book b;
    open_book(&b, limit_of(10, SECOND, 5));
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t retry_us = -1;
        bool took =
            takt_ledger_try(&b.ledger, NOW + rows[i].at_us, rows[i].cost, TAKT_NO_MORE, &retry_us);
        cr_assert_eq(took, rows[i].taken, "row %zu", i);
        cr_assert_eq(retry_us - NOW, rows[i].retry_us, "row %zu: %" PRId64, i, retry_us - NOW);
    }
}

Test(ledger_calls, try_overtakes_nobody)
{
    static book b;
    int64_t retry_us;

    open_book(&b, limit_of(10, SECOND, 10));
    say(&b, 0, 1, 9, 8, 2); /* one of its eights is served, the other waits */
    cr_assert_eq(b.given, 1);
    cr_assert_eq(peek(&b, 0).remaining, 2);
    cr_assert_not(takt_ledger_try(&b.ledger, NOW, 1, TAKT_NO_MORE, &retry_us),
                  "two are there, but somebody waits for eight");
    cr_assert_eq(retry_us, NOW + 700 * MS, "the ninth");
    cr_assert_eq(b.award.claim_again_at_us, NOW + 350 * MS);
    cr_assert_not(takt_ledger_try(&b.ledger, NOW + 600 * MS, 1, TAKT_NO_MORE, &retry_us));
    cr_assert(takt_ledger_try(&b.ledger, NOW + 600 * MS + 1, 1, TAKT_NO_MORE, &retry_us),
              "nor does it wait for one that stays away");
}

Test(ledger_calls, try_and_blocks)
{
    static book b;
    int64_t retry_us;

    open_book(&b, limit_of(10, SECOND, 10));
    takt_ledger_block(&b.ledger, NOW, SECOND, NULL);
    cr_assert_not(takt_ledger_try(&b.ledger, NOW, 1, TAKT_NO_MORE, &retry_us));
    cr_assert_eq(retry_us, NOW + SECOND);
    cr_assert(takt_ledger_try(&b.ledger, NOW + SECOND, 1, TAKT_NO_MORE, &retry_us));
    cr_assert_not(takt_ledger_try(&b.ledger, NOW + SECOND, 1, TAKT_NO_MORE, &retry_us), "no burst");
    cr_assert_eq(retry_us, NOW + SECOND + 100 * MS);
}

Test(ledger_calls, peek_tells_how_it_stands_and_takes_nothing)
{
    static const struct {
        int64_t at_us, take, remaining, retry_us, reset_us;
    } rows[] = {{0, 0, 5, 0, 0},
                {0, 2, 3, 0, 200 * MS},
                {50 * MS, 0, 3, 0, 150 * MS},
                {100 * MS, 4, 0, 100 * MS, 500 * MS},
                {150 * MS, 0, 0, 50 * MS, 450 * MS},
                {600 * MS, 0, 5, 0, 0},
                {HOUR, 0, 5, 0, 0}};
    static book b;
    open_book(&b, limit_of(10, SECOND, 5));
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t retry_us;
        if (rows[i].take)
            cr_assert(takt_ledger_try(&b.ledger, NOW + rows[i].at_us, rows[i].take, TAKT_NO_MORE,
                                      &retry_us));
        for (int twice = 0; twice < 2; twice++) {
            takt_standing s = peek(&b, rows[i].at_us);
            cr_assert_eq(s.now_us, NOW + rows[i].at_us);
            cr_assert_eq(s.limit, 5);
            cr_assert_eq(s.remaining, rows[i].remaining, "row %zu: %" PRId64, i, s.remaining);
            cr_assert_eq(s.retry_after_us, rows[i].retry_us, "row %zu: %" PRId64, i,
                         s.retry_after_us);
            cr_assert_eq(s.reset_after_us, rows[i].reset_us, "row %zu: %" PRId64, i,
                         s.reset_after_us);
            cr_assert_eq(s.blocked_until_us, 0);
        }
    }
    say(&b, HOUR, 1, 5, 1, 20);
    say(&b, HOUR, 2, 5, 1, 4);
    cr_assert_eq(peek(&b, HOUR).waiting, 20 - 7 + 4);
    cr_assert_eq(peek(&b, HOUR).workers, 2);
}

Test(ledger_calls, reset_forgets_the_rules_and_keeps_the_line_and_the_block)
{
    static book b;

    open_book(&b, limit_of(10, SECOND, 5));
    say(&b, 0, 1, 5, 1, 50);
    say(&b, 0, 2, 5, 1, 50);
    takt_ledger_block(&b.ledger, NOW, SECOND, NULL);
    takt_ledger_reset(&b.ledger, NOW);
    cr_assert_eq(line_digits(&b), 12);
    cr_assert_eq(peek(&b, 0).blocked_until_us, NOW + SECOND);
    takt_ledger_unblock(&b.ledger, NOW);
    takt_ledger_reset(&b.ledger, NOW);
    cr_assert_eq(peek(&b, 0).remaining, 5);
    cr_assert_eq(peek(&b, 0).reset_after_us, 0);
}

Test(ledger_calls, expires_when_it_says_no_more_than_a_new_one)
{
    static book b;
    int64_t retry_us;

    open_book(&b, limit_of(10, SECOND, 50));
    cr_assert_eq(takt_ledger_expires_at(&b.ledger), NOW);
    cr_assert(takt_ledger_try(&b.ledger, NOW, 30, TAKT_NO_MORE, &retry_us));
    cr_assert_eq(takt_ledger_expires_at(&b.ledger), NOW + 3 * SECOND, "the burst is whole again");
    say(&b, 0, 1, 5, 1, 50);
    cr_assert_eq(takt_ledger_expires_at(&b.ledger), NOW + 6 * SECOND,
                 "the worker that waits may be alive");
    takt_ledger_block(&b.ledger, NOW, 7 * SECOND, NULL);
    cr_assert_eq(takt_ledger_expires_at(&b.ledger), NOW + 14 * SECOND,
                 "as long as it is blocked, and until the burst that a new one has is there");
    say(&b, 0, 1, 5, 1, 0);
    cr_assert_eq(takt_ledger_expires_at(&b.ledger), NOW + 14 * SECOND);
}

/* If it were dropped earlier, it would begin again with a burst, which a block must not bring. */
Test(ledger_calls, a_block_is_remembered_until_the_burst_after_it_is_back)
{
    static book b;

    open_book(&b, limit_of(10, SECOND, 10));
    takt_ledger_block(&b.ledger, NOW, 10 * SECOND, NULL);
    cr_assert_eq(takt_ledger_expires_at(&b.ledger), NOW + 20 * SECOND);
    say(&b, 10 * SECOND + 500 * MS, 1, 5, 1, 100);
    cr_assert_eq(b.slots[5].slot_us, NOW + 10 * SECOND + 500 * MS, "half a second's worth");
    cr_assert_eq(b.slots[6].slot_us, NOW + 10 * SECOND + 600 * MS);
}
