/*
 * Slots that workers hand on to more urgent work: when they are requested, whose slots are kept,
 * and which worker gets them. Worker 1 has less urgent waiters, worker 2 urgent ones; 50/s and a
 * lookahead of 250 ms.
 */
#include "core/offers.h"

#include "core/books.h"

static book b;

static void set_up(void)
{
    open_book(&b, limit_of(50, SECOND, 1));
    say(&b, 0, 1, 5, 1, 100); /* has all slots of the lookahead */
}

TestSuite(offers, .init = set_up);

static void say_with(int64_t at_us, uint64_t worker, int priority, int64_t count, int64_t slot_us,
                     int32_t cost)
{
    takt_claim claim = {.worker = worker,
                        .seq = ++b.seq,
                        .waiting = count,
                        .offer = {NOW + slot_us, cost, priority},
                        .want_count = count > 0};

    claim.wants[0] = (takt_want){count, TAKT_NEVER, 1, priority, {{0}}};
    send_claim(&b, at_us, &claim);
}

static bool asks(int64_t at_us, int priority)
{
    say(&b, at_us, 2, priority, 1, 1);
    return b.award.news;
}

Test(offers, urgent_work_gets_the_slot_that_another_worker_hands_on)
{
    cr_assert(asks(MS, 0), "worker 1 is to offer one");
    cr_assert_eq(b.given, 0, "none that is far ahead");
    cr_assert_eq(b.award.claim_again_at_us, NOW + MS + 250 * MS / 64);
    say_with(2 * MS, 1, 5, 90, 20 * MS, 1);
    cr_assert(b.award.taken);
    say_with(3 * MS, 1, 5, 90, 40 * MS, 1);
    cr_assert(!b.award.taken, "one is all that is needed");
    cr_assert_eq(b.given, 0);
    say(&b, 4 * MS, 2, 0, 1, 1);
    cr_assert_eq(b.given, 1);
    cr_assert_eq(b.first_us, 20 * MS);
    cr_assert_eq(b.award.in_line, 0);
    cr_assert_eq(b.ledger.offers.count, 0);
}

Test(offers, nobody_is_asked_where_that_would_be_of_no_use)
{
    cr_assert(!asks(MS, 5), "as urgent as the other");
    cr_assert(!asks(MS, 9), "less urgent");
    set_up();
    cr_assert(!asks(300 * MS, 0), "there is a slot now");
    open_book(&b, limit_of(12, SECOND, 1));
    say(&b, 0, 1, 5, 1, 100);
    cr_assert(!asks(MS, 0), "only three slots in a lookahead");
    open_book(&b, limit_of(16, SECOND, 1));
    for (uint64_t worker = 3; worker < 12; worker++)
        say(&b, 0, worker, 5, 1, 100);
    cr_assert(!asks(MS, 0), "nine workers for four slots");
    open_book(&b, limit_of(50, SECOND, 1));
    b.limit.concurrency = 100;
    say(&b, 0, 1, 5, 1, 100);
    cr_assert(!asks(MS, 0), "a slot alone is no permit");
    set_up();
    takt_claim claim = {
        .worker = 2, .seq = ++b.seq, .waiting = 1, .distant = true, .want_count = 1};
    claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, 0, {{0}}};
    send_claim(&b, MS, &claim);
    cr_assert(!b.award.news, "the answer would come too late");
}

Test(offers, they_are_asked_for_once_in_a_lookahead)
{
    cr_assert(asks(MS, 0));
    cr_assert(!asks(2 * MS, 0));
    cr_assert_eq(b.given, 0, "it waits a moment");
    say(&b, 20 * MS, 2, 0, 1, 1);
    cr_assert(!b.award.news);
    cr_assert_eq(b.given, 1, "nobody has offered one");
    cr_assert_geq(b.first_us, 250 * MS);
    say(&b, 100 * MS, 1, 5, 1, 100);
    cr_assert(!asks(250 * MS, 0));
    say(&b, 251 * MS, 2, 0, 1, 0);
    say(&b, 251 * MS, 1, 5, 1, 100);
    cr_assert(asks(252 * MS, 0));
}

Test(offers, what_cannot_be_used_is_not_taken)
{
    say_with(MS, 1, 5, 90, 20 * MS, 1);
    cr_assert(!b.award.taken, "nobody asked");
    cr_assert(asks(MS, 3));
    say_with(2 * MS, 1, 3, 90, 20 * MS, 1);
    cr_assert(!b.award.taken, "its own waiters are as urgent");
    say_with(2 * MS, 1, 5, 90, MS, 1);
    cr_assert(!b.award.taken, "it is past");
    say_with(2 * MS, 1, 5, 90, 11 * SECOND, 1);
    cr_assert(!b.award.taken, "it is from another clock");
    takt_ledger_block(&b.ledger, NOW + 3 * MS, 50 * MS, NULL);
    say_with(3 * MS, 1, 5, 90, 20 * MS, 1);
    cr_assert(!b.award.taken, "it is blocked");
}

Test(offers, one_that_nobody_used_is_dropped)
{
    cr_assert(asks(MS, 0));
    say_with(2 * MS, 1, 5, 90, 20 * MS, 1);
    cr_assert(b.award.taken);
    takt_ledger_tidy(&b.ledger, NOW + 20 * MS);
    cr_assert_eq(b.ledger.offers.count, 1);
    takt_ledger_tidy(&b.ledger, NOW + 20 * MS + 1);
    cr_assert_eq(b.ledger.offers.count, 0);
    say(&b, 21 * MS, 2, 0, 1, 1);
    cr_assert_geq(b.first_us, 250 * MS);
}

Test(offers, one_that_the_urgent_left_is_for_the_others)
{
    cr_assert(asks(MS, 0));
    say_with(2 * MS, 1, 5, 90, 20 * MS, 1);
    cr_assert(b.award.taken);
    say(&b, 3 * MS, 1, 5, 1, 90);
    cr_assert_eq(b.given, 0, "more urgent work waits for it");
    say(&b, 4 * MS, 2, 0, 1, 0);
    say(&b, 5 * MS, 1, 5, 1, 90);
    cr_assert_geq(b.given, 1);
    cr_assert_eq(b.first_us, 20 * MS);
}

/* The best of several, and only of the cost that is wanted. */
Test(offers, the_nearest_of_the_cost_is_given_first)
{
    b.ledger.offers = (takt_offers){
        .asked_at_us = NOW,
        .slots = {{NOW + 30 * MS, 1, 5}, {NOW + 10 * MS, 2, 5}, {NOW + 20 * MS, 1, 5}},
        .count = 3};
    say(&b, MS, 2, 0, 1, 1);
    cr_assert_eq(b.first_us, 20 * MS);
    say(&b, 2 * MS, 2, 0, 1, 1);
    cr_assert_eq(b.first_us, 30 * MS);
    cr_assert_eq(b.ledger.offers.count, 1);
}
