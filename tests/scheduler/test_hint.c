/*
 * A block, an unblock, a reset or urgent work of another client: the ledger is claimed from at
 * once, and until it has answered no slot in hand is used.
 */
#include "scheduler/claims.h"
#include "scheduler/registry.h"
#include "scheduler/rigs.h"

static rig r;

static void set_up(void)
{
    open_rig(&r);
    acquire_many(&r, 3);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, 100 * MS, 3, 1);
    answer(&r, 0, &award);
    pass(&r, 0);
}

static void tear_down(void)
{
    close_rig(&r);
}

TestSuite(hint, .init = set_up, .fini = tear_down);

Test(hint, slots_in_hand_wait_for_the_answer)
{
    takt_award award = award_of(201 * MS, 300 * MS, 0, 0, 1);

    cr_assert_str_eq(pass(&r, 101 * MS), "a");
    takt_claims_hint(&r.s, r.queue);
    cr_assert_str_eq(pass(&r, 150 * MS), "");
    cr_assert_eq(r.claims, 1, "although everybody who waits has a slot");
    cr_assert_eq(r.claim.want_count, 0);
    acquire_many(&r, 1);
    cr_assert_str_eq(pass(&r, 202 * MS), "", "who knows");
    award.in_line = 0;
    answer(&r, 203 * MS, &award); /* no block: it was a reset */
    cr_assert_str_eq(pass(&r, 203 * MS), "b");
    cr_assert_str_eq(pass(&r, 302 * MS), "c");
}

Test(hint, a_block_drops_them)
{
    takt_award award = award_of(50 * MS, 900 * MS, 0, 0, 1);

    takt_claims_hint(&r.s, r.queue);
    pass(&r, 50 * MS);
    award.blocked_until_us = NOW + 900 * MS;
    answer(&r, 51 * MS, &award);
    cr_assert_str_eq(pass(&r, 400 * MS), "");
    cr_assert_eq(r.queue->in_hand.count, 0);
    cr_assert_eq(r.claims, 1, "they ask anew");
}

/* An answer under way may be older than the hint. */
Test(hint, a_claim_under_way_is_not_enough)
{
    takt_award award = award_of(10 * MS, 400 * MS, 0, 0, 1);

    acquire_many(&r, 1);
    takt_scheduler_blocked(&r.s, r.queue, 0);
    for (int64_t at_us = 10 * MS; r.claims == 0; at_us += 10 * MS)
        pass(&r, at_us);
    int64_t at_us = r.sent_us;
    takt_claims_hint(&r.s, r.queue);
    pass(&r, at_us);
    cr_assert_eq(r.claims, 0, "one at a time");
    award.now_us = NOW + at_us;
    answer(&r, at_us, &award);
    pass(&r, at_us);
    cr_assert_eq(r.claims, 1);
}

Test(hint, a_store_that_does_not_answer_holds_nothing_up_for_long)
{
    takt_claims_hint(&r.s, r.queue);
    pass(&r, 50 * MS);
    cr_assert_str_eq(pass(&r, 150 * MS), "");
    takt_scheduler_failed(&r.s, r.queue, TAKT_E_STORE_TIMEOUT, NOW + 160 * MS);
    cr_assert_str_eq(pass(&r, 160 * MS), "", "the slot that was offered may be another worker's");
    cr_assert_str_eq(pass(&r, 201 * MS), "a");
}

/* The next slot is offered to more urgent work, and stays in hand until another worker takes it. */
Test(hint, the_next_slot_is_offered)
{
    static const struct {
        bool taken;
        const char *fired;
    } rows[] = {{false, "a"}, {true, ""}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_award award = award_of(50 * MS, 900 * MS, 0, 0, 1);
        close_rig(&r);
        set_up();
        pass(&r, 40 * MS);
        cr_assert_eq(r.claims, 0);
        takt_claims_hint(&r.s, r.queue);
        pass(&r, 50 * MS);
        cr_assert_eq(r.claim.offer.slot_us, NOW + 100 * MS);
        cr_assert_eq(r.claim.offer.cost, 1);
        cr_assert_eq(r.claim.offer.priority, 5);
        award.taken = rows[i].taken;
        answer(&r, 51 * MS, &award);
        cr_assert_str_eq(pass(&r, 101 * MS), rows[i].fired);
        cr_assert_eq(r.queue->in_hand.count, 2);
    }
    takt_claims_nudge(&r.s, r.queue);
    pass(&r, 120 * MS);
    cr_assert_eq(r.claim.offer.cost, 0, "no hint came");
}

Test(hint, the_most_urgent_offer_nothing)
{
    close_rig(&r);
    open_rig(&r);
    acquire(&r, 0, 1, ALWAYS);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, 100 * MS, 1, 1);
    answer(&r, 0, &award);
    takt_claims_hint(&r.s, r.queue);
    pass(&r, 50 * MS);
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.offer.cost, 0);
}

Test(hint, nobody_asks_where_nobody_waits)
{
    pass(&r, 101 * MS);
    pass(&r, 202 * MS);
    pass(&r, 303 * MS);
    cr_assert_eq(r.queue->waiters.total, 0);
    takt_claims_hint(&r.s, r.queue);
    pass(&r, 310 * MS);
    cr_assert_eq(r.claims, 0);
    cr_assert_eq(wake_us(&r), -1);
}

Test(hint, a_ledger_that_nobody_knows_here_is_not_made)
{
    size_t before = r.s.queues.count;

    cr_assert_null(takt_registry_find(&r.s, &r.limit, "other"));
    cr_assert_eq(takt_registry_find(&r.s, &r.limit, "key"), r.queue);
    cr_assert_eq(r.s.queues.count, before);
}

Test(hint, deadlines_come_while_slots_are_held_back)
{
    takt_permit *permit = acquire(&r, 5, 1, 150 * MS);

    takt_claims_hint(&r.s, r.queue);
    pass(&r, 50 * MS);
    cr_assert_eq(wake_us(&r), 150 * MS);
    pass(&r, 150 * MS);
    cr_assert_eq(permit->status, TAKT_E_DEADLINE);
}
