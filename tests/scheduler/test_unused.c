/*
 * Slots in hand without a waiter: which are given back, when, and which lapse.
 */
#include "scheduler/claims.h"
#include "scheduler/loss.h"
#include "scheduler/rigs.h"
#include "scheduler/unused.h"

static rig r;

static void open_fresh(void)
{
    open_rig(&r);
}

static void close_fresh(void)
{
    close_rig(&r);
}

TestSuite(unused, .init = open_fresh, .fini = close_fresh);

/* What the last pass hands back, in order: "200*3" is three tokens from 200 ms on. */
static const char *handed_back(void)
{
    static char told[200];
    takt_queue *queue;
    takt_run run;
    size_t size = 0;

    told[0] = '\0';
    while ((queue = takt_unused_next(&r.s, &run))) {
        cr_assert_eq(queue, r.queue);
        size += (size_t)snprintf(told + size, sizeof told - size, "%s%" PRId64 "*%" PRId64,
                                 size ? " " : "", (takt_run_slot(&run, 0) - NOW) / MS,
                                 run.count * run.cost);
    }
    return told;
}

/* So many wait, and have slots in hand 100 ms apart from 100 ms on. */
static void serve(int count)
{
    acquire_many(&r, count);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, 100 * MS, count, 1);
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "");
    cr_assert_str_eq(handed_back(), "");
}

static void leave(char letter)
{
    takt_waiter_leave(&r.s, &r.permits[letter - 'a'], 0);
}

Test(unused, the_slots_of_those_who_are_cancelled_are_handed_back)
{
    serve(3);
    leave('a');
    leave('b');
    pass(&r, MS);
    cr_assert_str_eq(handed_back(), "", "one waits still, and may have any of them");
    leave('c');
    pass(&r, 2 * MS);
    cr_assert_str_eq(handed_back(), "100*3");
    cr_assert_eq(r.claims, 0, "that is all that is said");
    cr_assert_eq(r.queue->in_hand.count, 0);
    pass(&r, 200 * MS);
    cr_assert_str_eq(handed_back(), "", "once");
}

Test(unused, who_asks_in_the_same_pass_has_the_slot)
{
    serve(1);
    leave('a');
    acquire_many(&r, 1);
    pass(&r, MS);
    cr_assert_str_eq(handed_back(), "");
    cr_assert_str_eq(pass(&r, 101 * MS), "b");
}

Test(unused, what_is_left_when_all_are_served_is_handed_back)
{
    serve(4);
    leave('c');
    leave('d');
    cr_assert_str_eq(pass(&r, 101 * MS), "a");
    cr_assert_str_eq(handed_back(), "");
    cr_assert_str_eq(pass(&r, 201 * MS), "b");
    cr_assert_str_eq(handed_back(), "300*2");
}

Test(unused, the_last_slots_go_first)
{
    takt_award award = award_of(0, 100 * MS, 0, 1, 2);

    acquire_many(&r, 1);
    pass(&r, 0);
    award.run_count = 3;
    award.runs[1] = award_of(0, 200 * MS, 50 * MS, 3, 1).runs[0];
    award.runs[2] = award_of(0, 400 * MS, 0, 1, 5).runs[0];
    answer(&r, 0, &award);
    leave('a');
    pass(&r, MS);
    cr_assert_str_eq(handed_back(), "400*5 200*3 100*2");
}

Test(unused, who_left_before_the_answer_came_gives_it_all_back)
{
    acquire_many(&r, 5);
    pass(&r, 0);
    for (char letter = 'a'; letter < 'f'; letter++)
        leave(letter);
    pass(&r, MS);
    takt_award award = award_of(2 * MS, 2 * MS, 0, 5, 1);
    answer(&r, 2 * MS, &award);
    pass(&r, 2 * MS);
    cr_assert_str_eq(handed_back(), "2*5", "one call for all of them, though they are due");
}

Test(unused, what_a_deadline_leaves_is_handed_back)
{
    acquire(&r, 5, 1, 50 * MS);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, 0, 1, 1);
    answer(&r, 0, &award);
    pass(&r, 0);
    cr_assert_str_eq(pass(&r, 50 * MS), "a-6");
    cr_assert_str_eq(handed_back(), "100*1");
}

Test(unused, one_whose_callback_is_due_and_does_not_come)
{
    acquire_many(&r, 2);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 2, 1);
    answer(&r, 0, &award);
    takt_scheduler_run(&r.s, NOW);
    cr_assert_not_null(takt_scheduler_next_fired(&r.s));
    leave('b'); /* as the callback of the other one may do */
    cr_assert_null(takt_scheduler_next_fired(&r.s));
    pass(&r, 0);
    cr_assert_str_eq(handed_back(), "0*1");
}

Test(unused, a_slot_that_suits_nobody_is_kept_until_it_is_due)
{
    serve(1);
    leave('a');
    acquire(&r, 5, 3, ALWAYS);
    pass(&r, MS);
    cr_assert_str_eq(handed_back(), "");
    pass(&r, 101 * MS);
    cr_assert_str_eq(handed_back(), "100*1");
}

Test(unused, where_it_cannot_be_heard_it_lapses)
{
    serve(1);
    leave('a');
    takt_loss_begin(&r.s, &r.s.servers.first, TAKT_E_STORE, NOW + MS);
    pass(&r, MS);
    cr_assert_str_eq(handed_back(), "");
    cr_assert_eq(r.queue->in_hand.count, 0);
}

Test(unused, while_something_may_have_happened_it_lapses)
{
    serve(1);
    leave('a');
    takt_claims_hint(&r.s, r.queue);
    pass(&r, MS);
    cr_assert_str_eq(handed_back(), "");
    cr_assert_eq(r.queue->in_hand.count, 0);
}

Test(unused, what_no_store_gave_is_not_handed_back)
{
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 1, 1);
    answer(&r, 0, &award);
    takt_scheduler_run(&r.s, NOW);
    r.permits[0].uncharged = true;
    leave('a');
    pass(&r, 0);
    cr_assert_str_eq(handed_back(), "");
}

Test(unused, permits_in_hand_are_free_and_their_slots_handed_back)
{
    r.limit.numbers.concurrency = 3;
    r.limit.numbers.lease_us = 30 * SECOND;
    acquire_many(&r, 2);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, 100 * MS, 2, 1);
    award.holding = 2;
    award.fence = 10;
    answer(&r, 0, &award);
    pass(&r, 0);
    leave('a');
    leave('b');
    pass(&r, MS);
    cr_assert_str_eq(handed_back(), "100*2");
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 0);
}

Test(unused, where_there_are_permits_alone_a_claim_says_it_all)
{
    r.limit.numbers.concurrency = 3;
    r.limit.numbers.lease_us = 30 * SECOND;
    r.limit.numbers.rule_count = 0;
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, 0, 1, 1);
    award.holding = 1;
    award.fence = 10;
    answer(&r, 0, &award);
    leave('a');
    pass(&r, MS);
    cr_assert_str_eq(handed_back(), "");
    cr_assert_eq(r.claim.holding, 0);
}

Test(unused, who_parts_hands_back_what_is_in_hand)
{
    serve(3);
    takt_scheduler_leave_all(&r.s, TAKT_E_CANCELED);
    cr_assert_str_eq(pass(&r, MS), "c-8b-8a-8");
    cr_assert_str_eq(handed_back(), "100*3");
}

/* ---- slots that are missed ------------------------------------------------------------------- */

static void guard(int64_t guard_us)
{
    r.limit.numbers.rules[0].guard_us = guard_us;
    cr_assert_eq(takt_rule_prepare(&r.limit.numbers.rules[0], NULL), 0);
}

Test(unused, a_slot_that_this_process_comes_to_later_than_the_guard_is_handed_on)
{
    guard(50 * MS);
    serve(4);
    cr_assert_str_eq(pass(&r, 150 * MS), "a", "as late as the guard permits");
    cr_assert_str_eq(pass(&r, 349 * MS), "b", "one slot that is due is not too late");
    cr_assert_str_eq(handed_back(), "200*1");
    cr_assert_eq(r.claims, 1, "the others claim anew");
    cr_assert_eq(r.claim.waiting, 1);
}

Test(unused, a_late_slot_is_used_where_there_is_no_guard)
{
    serve(4);
    cr_assert_str_eq(pass(&r, 351 * MS), "abc");
    cr_assert_str_eq(handed_back(), "");
}

Test(unused, a_slot_that_was_due_when_its_award_came_is_used)
{
    guard(50 * MS);
    acquire_many(&r, 2);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 200 * MS, 2, 1);
    answer(&r, 90 * MS, &award);
    takt_clock_note(&r.s.servers.first.clock, NOW, NOW + 1,
                    NOW + 1); /* the clocks are known to be the same */
    cr_assert_str_eq(pass(&r, 90 * MS), "a");
    cr_assert_str_eq(handed_back(), "");
    cr_assert_str_eq(pass(&r, 260 * MS), "");
    cr_assert_str_eq(handed_back(), "200*1");
}

/* A late pass reads the next award first. */
Test(unused, an_award_does_not_excuse_the_slots_before_it)
{
    guard(50 * MS);
    serve(2);
    acquire_many(&r, 1);
    r.queue->claims.in_flight = true;
    r.s.servers.first.in_flight++;
    r.sent_us = 10 * MS;
    takt_award award = award_of(170 * MS, 160 * MS, 0, 1, 1);
    answer(&r, 170 * MS, &award);
    cr_assert_str_eq(pass(&r, 170 * MS), "a");
    cr_assert_str_eq(handed_back(), "100*1");
}

/* Nor if it is the first answer of the server that the ledger has moved to. */
Test(unused, an_award_of_another_server_does_not_excuse_the_slots_before_it)
{
    guard(50 * MS);
    serve(2);
    acquire_many(&r, 1);
    r.queue->claims.in_flight = true;
    r.s.servers.first.in_flight++;
    r.sent_us = 10 * MS;
    takt_award award = award_of(170 * MS, 160 * MS, 0, 1, 1);
    takt_scheduler_set_server(&r.s, r.queue, 2);
    answer(&r, 170 * MS, &award);
    cr_assert_str_eq(pass(&r, 170 * MS), "a");
    cr_assert_str_eq(handed_back(), "100*1");
}
