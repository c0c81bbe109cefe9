/*
 * Which places a worker has after its claim: one for each priority, none for what can never be
 * given, and none in the outermost line while inner limits give nothing soon.
 */
#include "core/claim_restate.h"

#include "core/line.h"
#include "core/subs.h"

TestSuite(claim_restate);

Test(claim_restate, a_worker_stands_in_line_once_for_each_priority)
{
    takt_claim claim = {.worker = 1, .seq = 1, .waiting = 12, .want_count = 3};

    open_book(&b, limit_of(10, SECOND, 1));
    claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, 2, {{0}}};
    claim.wants[1] = (takt_want){1, TAKT_NEVER, 1, 4, {{0}}};
    claim.wants[2] = (takt_want){10, TAKT_NEVER, 1, 7, {{0}}};
    say(&b, 0, 2, 8, 1, 5);
    send_claim(&b, 0, &claim);
    cr_assert_eq(b.given, 0, "worker 2 has what there is");
    cr_assert_eq(b.award.in_line, 1U << 2 | 1U << 4 | 1U << 7);
    cr_assert_eq(b.award.workers, 2, "worker 1 counts once");
    cr_assert_eq(b.award.waiting, 12 + 2);
    cr_assert_eq(b.award.least_urgent, 8);
    claim.seq = b.seq = 9;
    send_claim(&b, 50 * MS, &claim);
    cr_assert_eq(b.given, 1);
    cr_assert_eq(b.award.in_line, 1U << 4 | 1U << 7, "the most urgent priority is served");
    say(&b, 0, 2, 8, 1, 0);
    cr_assert_eq(b.award.least_urgent, 7, "the others' least urgent");
    cr_assert_eq(b.award.in_line, 0);
    cr_assert_eq(b.award.workers, 1);
}

Test(claim_restate, nobody_waits_for_a_cost_that_newer_numbers_make_impossible)
{
    takt_numbers smaller = limit_of(10, SECOND, 3);

    open_book(&b, limit_of(10, SECOND, 9));
    say(&b, 0, 1, 5, 1, 9);
    say(&b, 0, 1, 5, 9, 1);
    cr_assert_eq(line_digits(&b), 1);
    takt_ledger_adopt(&b.ledger, &smaller, NOW);
    b.limit = smaller;
    for (int64_t at_us = 0; at_us < 5 * SECOND; at_us += 50 * MS) {
        say(&b, at_us, 1, 5, 9, 1);
        cr_assert_eq(b.given, 0);
        cr_assert_eq(b.award.in_line, 0, "it does not stand in the way of others");
        say(&b, at_us, 2, 5, 1, 100);
    }
    cr_assert_geq(b.slot_count, 9 + 40);
}

Test(claim_restate, an_exhausted_inner_limit_does_not_stand_in_line)
{
    set_up(limit_of(1, SECOND, 1), limit_of(2, DAY, 2));
    add(1, 0, 100, 0);
    add(2, -1, 1000, 0);
    run_until(4 * SECOND);
    cr_assert_eq(slot_counts[0], 2);
    claim(&subs[0], 5 * SECOND);
    cr_assert(b.award.parked);
    cr_assert_eq(b.award.in_line, 0);
    cr_assert_gt(b.award.claim_again_at_us, NOW + 12 * HOUR - SECOND - MINUTE);
    cr_assert_eq(b.award.workers, 1);
    run_until(20 * SECOND);
    check_all();
    cr_assert_geq(b.slot_count, 20, "the other work has what is left");
}

Test(claim_restate, a_cost_that_an_inner_limit_never_gives_is_not_waited_for)
{
    set_up(limit_of(50, SECOND, 50), limit_of(5, SECOND, 5));
    {
        takt_ledger *levels[] = {&inner[0]};
        takt_claim dear = {.worker = 9, .seq = 1, .waiting = 1, .tenant = "a", .want_count = 1};
        dear.wants[0] = (takt_want){.count = 1, .latest_us = TAKT_NEVER, .cost = 6, .priority = 5};
        b.ledger.inner = levels;
        b.ledger.inner_count = 1;
        send_claim(&b, 0, &dear);
    }
    cr_assert_eq(b.given, 0);
    cr_assert_eq(b.ledger.line_count, 0);
}

Test(claim_restate, held_back_waiters_are_told_in_the_text_and_count_as_waiting)
{
    set_up(limit_of(50, SECOND, 1), limit_of(5, SECOND, 1));
    add(1, 0, 10, 0);
    claim(&subs[0], 0);
    cr_assert_eq(b.award.waiting, subs[0].count);
    cr_assert_eq(b.ledger.line_count, 1);
    cr_assert_eq(b.line[0].waiting - b.line[0].held_back, 1, "the next slots are 200 ms apart");
}

/* Subjects without an inner limit. */
static void add_others(int count)
{
    for (int i = 0; i < count; i++)
        snprintf(add(100 + (uint64_t)i, -1, 1000000, 0)->tenant, sizeof subs->tenant, "o%c",
                 'a' + i);
}

/* How often, in a few seconds, one of the key's two workers does not stand in the outermost line.
 */
static int count_absent(void)
{
    int absent = 0;

    for (int64_t at_us = 8 * SECOND; at_us < 14 * SECOND; at_us += SECOND / 4) {
        run_until(at_us);
        for (uint64_t worker = 1; worker <= 2; worker++)
            absent += takt_line_find(&b.ledger, takt_tenant_worker(worker, "k0"), 5) < 0;
    }
    return absent;
}

/* Each of 21 subjects has a turn in 2.1 s. */
Test(claim_restate, a_place_whose_turn_outside_comes_later_mostly_stays_there)
{
    set_up(limit_of(10, SECOND, 1), limit_of(1, SECOND, 1));
    add_workers_of_a_key(2);
    add_others(20);
    cr_expect_leq(count_absent(), 12, "a quarter of the time, or less");
    check_all();
    cr_expect_geq(count_between(0, 4 * SECOND, 14 * SECOND), 4);
    cr_expect_leq(count_between(0, 4 * SECOND, 14 * SECOND), 5);
}

Test(claim_restate, a_place_that_its_inner_rules_hold_up_longer_leaves_it)
{
    set_up(limit_of(10, SECOND, 1), limit_of(1, 5 * SECOND, 1));
    add_workers_of_a_key(2);
    add_others(20);
    cr_expect_geq(count_absent(), 24, "half of the time, or more");
    check_all();
    cr_expect_geq(b.slot_count, 138, "the others have the slots");
}
