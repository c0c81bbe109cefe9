/*
 * When a place claims again, when its next slot can be, and which claims are prompt.
 */
#include "core/claim_plan.h"

#include "core/permits.h"
#include "core/subs.h"

TestSuite(claim_plan);

/* A slot that is too late for all waiters of a claim is not announced. */
Test(claim_plan, the_next_slot_is_one_for_the_least_cost_that_was_claimed)
{
    open_book(&b, limit_of(10, SECOND, 10));
    say(&b, 0, 1, 5, 10, 1);
    say(&b, 0, 2, 5, 5, 3);
    cr_assert_eq(b.award.next_slot_at_us, NOW + 500 * MS);
    say(&b, 0, 2, 5, 11, 3);
    cr_assert_eq(b.award.next_slot_at_us, NOW + 100 * MS, "what can never be given is left out");
    takt_claim claim = {.worker = 2, .seq = ++b.seq, .waiting = 4, .want_count = 1};
    claim.wants[0] = (takt_want){.count = 3, .latest_us = TAKT_NEVER, .cost = 5, .priority = 5};
    send_claim(&b, 0, &claim);
    cr_assert_eq(b.award.next_slot_at_us, NOW + 100 * MS, "one that is not listed may want less");
}

/* 1/s: each of those before it takes one second of it at least. */
Test(claim_plan, no_slot_comes_before_those_who_are_before_it_in_line)
{
    open_book(&b, limit_of(1, SECOND, 1));
    say(&b, 0, 99, 5, 1, 1); /* the token that is there */
    say(&b, 0, 1, 5, 1, 3);
    cr_assert_eq(b.award.next_slot_at_us, NOW + SECOND, "nobody is before it");
    say(&b, 0, 2, 5, 1, 1);
    cr_assert_eq(b.award.next_slot_at_us, NOW + 2 * SECOND, "the first takes one in its turn");
    say(&b, 0, 3, 5, 1, 1);
    cr_assert_eq(b.award.next_slot_at_us, NOW + 3 * SECOND);
    say(&b, 0, 4, 9, 1, 1);
    cr_assert_eq(b.award.next_slot_at_us, NOW + 6 * SECOND, "five are more urgent");
    say(&b, 0, 5, 0, 1, 1);
    cr_assert_eq(b.award.next_slot_at_us, NOW + SECOND, "it is the most urgent");
    say(&b, 0, 5, 0, 1, 0);
    cr_assert_eq(b.award.next_slot_at_us, NOW + SECOND, "it leaves: any waiter may come next");
}

static void expect_told(int64_t at_us, const char *why)
{
    cr_expect_eq(b.award.claim_again_at_us, at_us < TAKT_NEVER ? NOW + at_us : TAKT_NEVER,
                 "%s: told %" PRId64, why, b.award.claim_again_at_us - NOW);
}

/* The end of a lease wakes no worker. */
Test(claim_plan, the_next_in_line_comes_by_itself_when_a_lease_ends)
{
    int64_t over_us = 30 * SECOND + 1;

    open_book(&b, permits(2));
    state(&b, 0, 1, 0, 1);
    state(&b, SECOND, 2, 0, 1);
    state(&b, 27 * SECOND, 3, 0, 1);
    expect_told(TAKT_NEVER, "its keepalive comes before that");
    state(&b, 28 * SECOND + 1, 3, 0, 1);
    expect_told(TAKT_NEVER, "just before");
    state(&b, 28 * SECOND + 2, 3, 0, 1);
    expect_told(over_us, "the first lease that ends");
    cr_expect(place_of(&b, 3, 5)->lacking, "it may be woken before that");
    cr_expect_eq(place_of(&b, 3, 5)->again_at_us, NOW + over_us);
    state(&b, 29 * SECOND, 4, 0, 1);
    expect_told(over_us + 250 * MS + 1, "the one before it is late then");
    state(&b, 29 * SECOND, 5, 0, 1);
    expect_told(TAKT_NEVER, "two others stand before it");
    state(&b, 30 * SECOND - 10, 3, 0, 1);
    expect_told(30 * SECOND - 10 + 250 * MS / 64, "not at every instant");
    state(&b, over_us, 3, 0, 1);
    cr_expect_eq(b.given, 1);
    state(&b, over_us + 1, 4, 0, 1);
    expect_told(31 * SECOND + 1, "it is the next one now");
    state(&b, over_us + 2, 2, 1, 0);
    state(&b, over_us + 3, 4, 0, 1);
    expect_told(TAKT_NEVER, "its holder was heard of");
}

/* A worker that claims after the head is late sets a dead head aside: the second in line does. */
Test(claim_plan, a_dead_head_costs_a_lookahead)
{
    int64_t late_us = 2 * SECOND + 250 * MS + 1;

    open_book(&b, permits(1));
    state(&b, 0, 1, 0, 1);
    state(&b, 0, 2, 0, 1); /* and never claims again */
    state(&b, 100 * MS, 3, 0, 1);
    expect_told(TAKT_NEVER, "its keepalive comes before that");
    state(&b, SECOND, 3, 0, 1);
    expect_told(late_us, "the head is to come by 2 s");
    state(&b, SECOND, 4, 0, 1);
    expect_told(TAKT_NEVER, "the second in line looks after the first");
    state(&b, SECOND + 1, 1, 0, 0);
    cr_expect_eq(b.award.wakes[0], 2);
    state(&b, late_us - 1, 3, 0, 1);
    cr_expect_eq(b.given, 0);
    expect_told(late_us - 1 + 250 * MS / 16, "not at every instant");
    state(&b, late_us, 3, 0, 1);
    cr_expect_eq(b.given, 1);
}

/* Also where the more urgent work is a dead worker's. */
Test(claim_plan, a_dead_head_of_a_higher_priority_costs_a_lookahead)
{
    open_book(&b, permits(1));
    state(&b, 0, 1, 0, 1);
    say(&b, 500 * MS, 2, 1, 1, 1); /* and never claims again */
    say(&b, SECOND, 3, 5, 1, 1);
    expect_told(2500 * MS + 250 * MS + 1, "the head is to come by 2.5 s");
    say(&b, SECOND, 4, 6, 1, 1);
    expect_told(TAKT_NEVER, "two stand before it");
}

/* Its own more urgent work is no reason to come sooner. */
Test(claim_plan, who_stands_behind_itself_waits_to_be_woken)
{
    takt_claim claim = {.worker = 2, .seq = 100, .waiting = 2, .want_count = 2};

    claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, 1, {{0}}};
    claim.wants[1] = (takt_want){1, TAKT_NEVER, 1, 5, {{0}}};
    open_book(&b, permits(1));
    state(&b, 0, 1, 0, 1);
    send_claim(&b, SECOND, &claim);
    expect_told(TAKT_NEVER, "nobody else waits");
}

Test(claim_plan, the_next_in_line_comes_no_sooner_than_the_rules_allow)
{
    takt_numbers limit = limit_of(1, 10 * SECOND, 1);

    limit.concurrency = 1;
    limit.lease_us = SECOND;
    open_book(&b, limit);
    state(&b, 0, 1, 0, 1);
    cr_assert_eq(b.given, 1);
    state(&b, MS, 2, 0, 1);
    expect_told(10 * SECOND - 250 * MS, "there is no slot when the lease ends");
}

/* Others take each slot a lookahead ahead.  So a domain that claims later has a later slot. */
Test(claim_plan, a_claim_is_prompt_where_its_domain_is_scarce_and_others_take_the_rest)
{
    set_up(limit_of(50, SECOND, 1), limit_of(5, SECOND, 1));
    add(1, 0, 1000000, 0);
    add(2, -1, 1000000, 0);
    claim(&subs[0], 0);
    cr_expect_not(b.award.prompt, "nobody else waits");
    claim(&subs[1], 0);
    cr_expect_not(b.award.prompt, "its turn decides, not its domain");
    claim(&subs[0], 100 * MS);
    cr_expect(b.award.prompt);
    subs[1].count = 20; /* two lookaheads have more slots */
    claim(&subs[1], 110 * MS);
    claim(&subs[0], 300 * MS);
    cr_expect_not(b.award.prompt, "the others leave slots");
}
