/*
 * While the store is lost: which waiters wait on, fail or are granted, which events are reported,
 * and how the end of the loss is noticed.
 */
#include "scheduler/loss.h"
#include "scheduler/losses.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"

TestSuite(loss, .init = set_up, .fini = tear_down);

Test(loss, wait_waits)
{
    acquire_many(&r, 2);
    pass(&r, 0);
    fail(MS, TAKT_E_STORE);
    cr_assert_str_eq(run_alone(MS, HOUR / 60), "");
    cr_assert_eq(r.queue->waiters.total, 2);
    cr_assert_eq(fallbacks(), 0);
}

Test(loss, closed_fails_those_who_wait_and_those_who_come)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    acquire_many(&r, 2);
    cr_assert_str_eq(pass(&r, 0), "", "the store is asked first");
    fail(MS, TAKT_E_STORE_TIMEOUT);
    cr_assert_str_eq(pass(&r, MS), "a-12b-12");
    acquire_many(&r, 1);
    cr_assert_str_eq(pass(&r, MS), "c-12");
    cr_assert_eq(r.claims, 0, "it has failed just now");
    cr_assert_eq(fallbacks(), 1);
    cr_assert_eq(r.permits[2].state, TAKT_PERMIT_IDLE);
}

Test(loss, open_grants)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_OPEN;
    acquire_many(&r, 1);
    acquire(&r, 2, 9, ALWAYS); /* also what the rules could never give */
    pass(&r, 0);
    fail(MS, TAKT_E_STORE);
    cr_assert_str_eq(pass(&r, MS), "ba");
    cr_assert_eq(r.permits[0].slot_at_us, 0, "nobody ever told the time");
    pass(&r, SECOND);
    acquire_many(&r, 3);
    cr_assert_str_eq(pass(&r, SECOND), "cde");
    cr_assert_eq(fallbacks(), 1, "once in a loss");
}

Test(loss, a_slot_that_no_ledger_gave_goes_to_nobody_else)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_OPEN;
    acquire_many(&r, 1);
    pass(&r, 0);
    hear(0, 1);
    pass(&r, MS);
    fail(MS, TAKT_E_STORE);
    takt_scheduler_run(&r.s, NOW + MS);
    cr_assert_eq(r.permits[0].state, TAKT_PERMIT_FIRED);
    cr_assert_gt(r.permits[0].slot_at_us, 0);
    cr_assert(r.permits[0].uncharged);
    acquire_many(&r, 1);
    takt_waiter_leave(&r.s, &r.permits[0], 0);
    cr_assert_eq(r.queue->in_hand.count, 0, "as if it were a ledger's");
    cr_assert_str_eq(pass(&r, MS), "b");
    cr_assert(r.permits[1].uncharged);
    takt_waiter_acquire(&r.s, r.queue, &r.permits[1]);
    cr_assert(!r.permits[1].uncharged, "it is asked for anew");
}

Test(loss, slots_in_hand_are_used)
{
    static const struct {
        takt_on_store_failure mode;
        const char *at_once, *all;
    } rows[] = {{TAKT_ON_STORE_FAILURE_WAIT, "", "ab"},
                {TAKT_ON_STORE_FAILURE_CLOSED, "c-11d-11", "ab"},
                {TAKT_ON_STORE_FAILURE_OPEN, "ab", "cd"},
                {TAKT_ON_STORE_FAILURE_SHARE, "", "ab"}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_award award = award_of(0, 100 * MS, 100 * MS, 2, 1);
        char all[64] = "";
        close_rig(&r);
        open_rig(&r);
        r.limit.on_store_failure = rows[i].mode;
        acquire_many(&r, 4);
        pass(&r, 0);
        award.in_line = 1U << 5;
        award.workers = 1000;
        award.claim_again_at_us = NOW + MS;
        answer(&r, 0, &award);
        pass(&r, 63 * MS);
        cr_assert_eq(r.claims, 1);
        fail(64 * MS, TAKT_E_STORE);
        cr_assert_str_eq(pass(&r, 64 * MS), rows[i].at_once, "row %zu: %s", i, r.fired);
        strcat(all, pass(&r, 101 * MS));
        strcat(all, pass(&r, 202 * MS));
        cr_assert_str_eq(all, rows[i].all, "row %zu: %s", i, all);
    }
}

/* Our own block was answered, but no claim ever was: its end is unknown here. */
Test(loss, a_block_by_a_clock_that_is_not_known)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_OPEN;
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_scheduler_blocked(&r.s, r.queue, NOW - HOUR);
    fail(0, TAKT_E_STORE);
    cr_assert_str_eq(pass(&r, 0), "");
}

/* Slots of cost 1 do not serve a waiter of cost 3: that waiter fails. */
Test(loss, closed_fails_those_whom_no_slot_suits)
{
    takt_award award = award_of(0, 100 * MS, 100 * MS, 2, 1);

    r.limit = limit_named(10, SECOND, 3);
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    acquire(&r, 5, 3, ALWAYS);
    acquire_many(&r, 2);
    pass(&r, 0);
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + MS;
    answer(&r, 0, &award);
    pass(&r, 63 * MS);
    fail(64 * MS, TAKT_E_STORE);
    cr_assert_str_eq(pass(&r, 64 * MS), "a-11");
    cr_assert_str_eq(pass(&r, 101 * MS), "b");
    cr_assert_str_eq(pass(&r, 202 * MS), "c");
}

Test(loss, when_the_store_is_back_everybody_claims_at_once)
{
    takt_queue *first = r.queue, *second = takt_registry_queue(&r.s, &r.limit, "second");
    int64_t at_us = 20 * MS;

    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    acquire_many(&r, 2);
    r.queue = second;
    acquire_many(&r, 2);
    pass(&r, 0);
    cr_assert_eq(r.claims, 2);
    for (int i = 0; i < 2; i++) {
        r.queue = i ? second : first;
        hear(0, 100);
    }
    pass(&r, 16 * MS);
    cr_assert_eq(r.claims, 2);
    for (int i = 0; i < 2; i++) {
        r.queue = i ? second : first;
        fail(17 * MS, TAKT_E_STORE);
    }
    while (pass(&r, at_us), r.claims != 1)
        at_us = wake_us(&r);
    r.queue = first->claims.in_flight ? first : second;
    hear(at_us, 100);
    pass(&r, at_us);
    cr_assert_eq(r.claims, 2, "the other one does not wait for its own next attempt");
    cr_assert(first->claims.in_flight || second->claims.in_flight);
    cr_assert_eq(r.s.servers.first.loss.trouble, 0);
    cr_assert_str_eq(pass(&r, 9 * SECOND), "", "nothing is paced here any more");
}

Test(loss, each_loss_is_told_once)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    for (int64_t at_us = 0; at_us < 10 * SECOND; at_us += SECOND) {
        takt_award award = award_of(at_us, at_us, 0, 1, 1);
        acquire_many(&r, 2);
        pass(&r, at_us);
        cr_assert_eq(r.claims, 1);
        fail(at_us, TAKT_E_STORE);
        pass(&r, at_us);
        acquire_many(&r, 2);
        pass(&r, at_us);
        cr_assert_eq(fallbacks(), 1);
        pass(&r, at_us + 60 * MS);
        acquire_many(&r, 1);
        pass(&r, at_us + 60 * MS);
        cr_assert_eq(r.claims, 1, "it is time to ask again");
        answer(&r, at_us + 60 * MS, &award);
    }
}

Test(loss, other_queues_hear_of_it_at_once)
{
    takt_queue *second = takt_registry_queue(&r.s, &r.limit, "second");
    takt_award award = award_of(0, HOUR, 0, 0, 1);

    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    acquire_many(&r, 1);
    pass(&r, 0);
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + HOUR;
    answer(&r, 0, &award);
    r.queue = second;
    acquire_many(&r, 1);
    pass(&r, MS);
    fail(2 * MS, TAKT_E_STORE);
    cr_assert_eq(strlen(pass(&r, 2 * MS)), strlen("a-11b-11"));
}

/* No right to one ledger, or another program's data under its name: others are served. */
Test(loss, an_error_of_one_ledger_is_its_own)
{
    static const int codes[] = {TAKT_E_STORE_FORMAT, TAKT_E_STORE_ACCESS};

    for (size_t i = 0; i < COUNT(codes); i++) {
        takt_queue *first, *second;
        char said[16];
        close_rig(&r);
        open_rig(&r);
        first = r.queue;
        second = takt_registry_queue(&r.s, &r.limit, "second");
        r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
        acquire_many(&r, 1);
        pass(&r, 0);
        r.queue = second;
        acquire_many(&r, 1);
        pass(&r, 0);
        r.queue = first;
        fail(MS, codes[i]);
        snprintf(said, sizeof said, "a%d", codes[i]);
        cr_assert_str_eq(pass(&r, MS), said);
        takt_award award = award_of(MS, MS, 0, 1, 1);
        r.queue = second;
        answer(&r, 2 * MS, &award);
        cr_assert_str_eq(pass(&r, 2 * MS), "b");
        r.queue = first;
        acquire_many(&r, 1);
        snprintf(said, sizeof said, "c%d", codes[i]);
        cr_assert_str_eq(pass(&r, 3 * MS), said, "that one still fails");
    }
}

/* Codes that say nothing of the store. */
Test(loss, a_claim_that_failed_for_want_of_memory_is_made_again)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    acquire_many(&r, 1);
    pass(&r, 0);
    fail(0, TAKT_E_NOMEM);
    cr_assert_str_eq(pass(&r, 0), "");
    pass(&r, 51 * MS);
    cr_assert_eq(r.claims, 1);
}

/* Without waiters there are no timed claims: a program can end. */
Test(loss, acquires_ask_and_nothing_else_does)
{
    int claims = 0;

    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    acquire_many(&r, 1);
    pass(&r, 0);
    hear(0, 1);
    pass(&r, 0);
    fail(MS, TAKT_E_STORE);
    pass(&r, MS);
    cr_assert_eq(wake_us(&r), -1);
    for (int64_t at_us = 2 * MS; at_us < 20 * SECOND; at_us += 100 * MS) {
        acquire_many(&r, 1);
        cr_assert_str_neq(pass(&r, at_us), "", "it does not wait for the answer");
        claims += r.claims;
        if (r.claims) {
            acquire_many(&r, 1);
            pass(&r, at_us + MS);
            cr_assert_eq(r.claims, 0, "one at a time");
            fail(at_us + 50 * MS, TAKT_E_STORE);
            pass(&r, at_us + 50 * MS);
        }
        cr_assert_eq(wake_us(&r), -1);
        r.permit_count = 1;
    }
    cr_assert(claims >= 10 && claims < 60, "%d", claims);
}

Test(loss, an_old_failure_is_not_believed)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    acquire_many(&r, 1);
    pass(&r, 0);
    fail(0, TAKT_E_STORE);
    cr_assert_str_eq(pass(&r, 0), "a-11");
    acquire_many(&r, 1);
    cr_assert_str_eq(pass(&r, 6 * SECOND), "", "it may be back by now");
    cr_assert_eq(r.claims, 1);
    acquire_many(&r, 1);
    cr_assert_str_eq(pass(&r, 6 * SECOND + MS), "");
    fail(7 * SECOND, TAKT_E_STORE);
    cr_assert_str_eq(pass(&r, 7 * SECOND), "b-11c-11");
    cr_assert_eq(fallbacks(), 1, "it was never back");
}

Test(loss, good_bye_is_said_once)
{
    takt_award award = award_of(0, HOUR, 0, 0, 1);

    acquire_many(&r, 1);
    pass(&r, 0);
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + HOUR;
    answer(&r, 0, &award);
    pass(&r, 0);
    takt_waiter_leave(&r.s, &r.permits[0], 0);
    pass(&r, MS);
    cr_assert_eq(r.claims, 1);
    fail(2 * MS, TAKT_E_STORE);
    pass(&r, 2 * MS);
    cr_assert_eq(wake_us(&r), -1);
}

/* What another call finds out counts as well. */
Test(loss, other_calls_tell_too)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    takt_loss_begin(&r.s, &r.s.servers.first, TAKT_E_STORE, NOW);
    acquire_many(&r, 1);
    cr_assert_str_eq(pass(&r, MS), "a-11");
    takt_loss_end(&r.s, &r.s.servers.first);
    acquire_many(&r, 1);
    cr_assert_str_eq(pass(&r, 2 * MS), "");
}

/* Another worker's newer numbers are valid; its on_store_failure is not this worker's. */
Test(loss, newer_numbers_keep_our_own_mode)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 0, 1);
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW;
    award.outdated = true;
    award.newer[0] = limit_of(20, SECOND, 1);
    answer(&r, 0, &award);
    pass(&r, 0);
    fail(0, TAKT_E_STORE);
    cr_assert_str_eq(pass(&r, 0), "a-11");
}

/* ---- several servers ------------------------------------------------------------------------- */

/* A claim of each of two queues, whose ledgers are on server 1 and 2. */
static void claim_on_two(takt_queue *second)
{
    takt_queue *first = r.queue;

    for (int i = 0; i < 2; i++) {
        r.queue = i ? second : first;
        acquire_many(&r, 1);
        pass(&r, 0);
        takt_scheduler_set_server(&r.s, r.queue, 1 + i);
    }
    r.queue = first;
}

Test(loss, a_lost_server_is_lost_alone)
{
    takt_queue *first = r.queue, *second = takt_registry_queue(&r.s, &r.limit, "second");
    takt_award award = award_of(0, HOUR, 0, 0, 1);

    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + HOUR;
    claim_on_two(second);
    r.queue = second;
    answer(&r, MS, &award);
    r.queue = first;
    fail(MS, TAKT_E_STORE);
    cr_assert_str_eq(pass(&r, MS), "a-11", "the waiter of the other server waits");
    cr_assert_eq(fallbacks(), 1);
    r.queue = takt_registry_queue(&r.s, &r.limit, "third");
    acquire_many(&r, 1);
    cr_assert_str_eq(pass(&r, MS), "", "nobody knows yet where its ledger is");
    cr_assert_eq(r.claims, 1);
    takt_scheduler_set_server(&r.s, r.queue, 2);
    answer(&r, 2 * MS, &award);
    r.queue = first;
    acquire_many(&r, 1);
    cr_assert_str_eq(pass(&r, 3 * MS), "d-11", "an answer of server 2 says nothing of server 1");
}

Test(loss, a_ledger_that_moves_leaves_the_loss_behind)
{
    takt_award award = award_of(0, 0, 0, 1, 1);

    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_scheduler_set_server(&r.s, r.queue, 1);
    fail(MS, TAKT_E_STORE);
    cr_assert_str_eq(pass(&r, MS), "a-11");
    acquire_many(&r, 1);
    pass(&r, 60 * MS);
    cr_assert_eq(r.claims, 1, "one asks");
    takt_scheduler_set_server(&r.s, r.queue, 2);
    cr_assert_eq(takt_servers_get(&r.s.servers, 1)->in_flight, 0);
    answer(&r, 61 * MS, &award);
    acquire_many(&r, 1);
    cr_assert_str_eq(pass(&r, 61 * MS), "c");
}

/* Server 1 is half a second ahead of server 2: each slot is due by its own server's clock. */
Test(loss, each_server_has_its_clock)
{
    takt_queue *first = r.queue, *second = takt_registry_queue(&r.s, &r.limit, "second");

    claim_on_two(second);
    for (int i = 0; i < 2; i++) {
        takt_award award = award_of(i == 0 ? 500 * MS : 0, 600 * MS, 0, 1, 1);
        r.queue = i ? second : first;
        answer(&r, 0, &award);
    }
    cr_assert_str_eq(pass(&r, 99 * MS), "");
    cr_assert_str_eq(pass(&r, 101 * MS), "a");
    cr_assert_str_eq(pass(&r, 599 * MS), "");
    cr_assert_str_eq(pass(&r, 601 * MS), "b");
}

/* Server 2 has not answered yet, so no slot of server 1 can become due by its clock. */
Test(loss, a_ledger_that_moves_to_an_unknown_server_leaves_its_slots_behind)
{
    takt_award award = award_of(0, 100 * MS, 100 * MS, 2, 1);

    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED;
    acquire_many(&r, 2);
    pass(&r, 0);
    takt_scheduler_set_server(&r.s, r.queue, 1);
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 101 * MS), "a");
    takt_claims_nudge(&r.s, r.queue);
    acquire_many(&r, 1);
    pass(&r, 110 * MS);
    cr_assert_eq(r.claims, 1);
    takt_scheduler_set_server(&r.s, r.queue, 2);
    fail(120 * MS, TAKT_E_STORE);
    cr_assert_eq(r.queue->in_hand.count, 0);
    cr_assert_str_eq(pass(&r, 120 * MS), "b-11c-11");
}

/* A server that answers has a clock: the slots of the one before are due by it. */
Test(loss, a_ledger_that_moves_keeps_its_slots)
{
    takt_award award = award_of(0, 100 * MS, 0, 1, 1), none = award_of(0, 300 * MS, 0, 0, 1);

    acquire_many(&r, 2);
    pass(&r, 0);
    takt_scheduler_set_server(&r.s, r.queue, 1);
    answer(&r, 0, &award);
    takt_claims_nudge(&r.s, r.queue);
    pass(&r, 50 * MS);
    takt_scheduler_set_server(&r.s, r.queue, 2); /* which is 50 ms behind */
    answer(&r, 50 * MS, &none);
    cr_assert_str_eq(pass(&r, 101 * MS), "");
    cr_assert_str_eq(pass(&r, 151 * MS), "a");
}
