/*
 * Shadow waiters: what becomes of them when their work is given up, done early or never said to be
 * done, when there are too many of them, when the store is lost, and when a lease is over.
 */
#include "scheduler/losses.h"
#include "scheduler/permits.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"

static takt_shadows shadows;

static bool take(takt_permit *permit)
{
    return takt_shadow_call_back(&shadows, permit);
}

static void open_shadows(void)
{
    open_rig(&r);
    takt_shadows_init(&shadows, &r.s);
    r.taken = take;
}

static void close_shadows(void)
{
    close_rig(&r);
    takt_shadows_close(&shadows);
}

/* One pass as a driver of limits in shadow makes it. */
static const char *run(int64_t at_us)
{
    takt_shadow_tick(&shadows, NOW + at_us);
    return pass(&r, at_us);
}

TestSuite(shadow, .init = open_shadows, .fini = close_shadows);

static takt_queue *coming; /* of the limit around, which permits are to come to */

static takt_permit *enter(int64_t at_us, int32_t cost, int64_t deadline_us)
{
    takt_permit *permit = &r.permits[r.permit_count++];

    r.limit.mode = TAKT_MODE_SHADOW;
    *permit =
        (takt_permit){.cost = cost,
                      .priority = 5,
                      .deadline_at_us = deadline_us == ALWAYS ? TAKT_NEVER : NOW + deadline_us};
    if (coming)
        takt_waiter_expect(&r.s, coming, permit->cost, TAKT_NO_MORE, permit);
    takt_shadow_acquire(&shadows, r.queue, permit, NOW + at_us);
    return permit;
}

static takt_shadow told(void)
{
    takt_shadow shadow;

    takt_shadow_tell(&shadows, "test", &shadow);
    cr_assert_eq(shadow.acquires, shadow.at_once + shadow.waited + shadow.refused + shadow.waiting +
                                      shadow.unmeasured);
    return shadow;
}

static void award(int64_t at_us, int64_t first_us, int64_t count)
{
    takt_award slots = award_of(at_us, first_us, 100 * MS, count, 1);

    r.sent_us = at_us; /* the way to the store takes no time */
    answer(&r, at_us, &slots);
}

Test(shadow, work_starts_at_once_and_its_ghost_waits)
{
    enter(0, 1, ALWAYS);
    enter(0, 1, ALWAYS);
    cr_assert_str_eq(run(0), "ab", "before any answer");
    cr_assert_eq(r.permits[0].slot_at_us, 0);
    cr_assert_eq(r.claim.waiting, 2, "the shadow_waiters are claimed for");
    award(MS, MS, 2);
    cr_assert_str_eq(run(MS), "", "a shadow_waiter has no callback");
    cr_assert_eq(told().at_once, 1);
    cr_assert_eq(told().waiting, 1);
    run(102 * MS);
    cr_assert_eq(told().waited, 1);
    cr_assert_leq(told().p50_us, 102 * MS);
    cr_assert_geq(told().p50_us, 100 * MS);
    cr_assert_eq(told().max_us, 102 * MS);
    takt_shadow_release(&shadows, &r.permits[0], NOW + 102 * MS);
    takt_shadow_release(&shadows, &r.permits[1], NOW + 102 * MS);
    cr_assert_eq(shadows.count, 0);
}

Test(shadow, a_ghost_is_refused_as_anybody_would_be)
{
    takt_award full = award_of(MS, MS, 0, 0, 1);

    r.limit.numbers.max_waiting = 1;
    enter(0, 1, 50 * MS);
    enter(0, 1, ALWAYS);
    enter(0, 1000, ALWAYS); /* a cost that no rule ever gives: enforced, the request would fail */
    cr_assert_str_eq(run(0), "abc");
    cr_assert_eq(told().refused, 1);
    full.refused = 1;
    full.in_line = 1U << 5;
    full.claim_again_at_us = full.next_slot_at_us = NOW + 10 * SECOND;
    answer(&r, MS, &full);
    run(MS);
    cr_assert_eq(told().refused_full, 1);
    cr_assert_eq(told().refused_late, 1, "its slot would have come too late");
    cr_assert_eq(told().refused, 3);
    cr_assert_eq(r.queue->waiters.total, 0);
}

Test(shadow, who_gives_up_before_the_callback_was_never_there)
{
    takt_permit *permit = enter(0, 1, ALWAYS);

    takt_shadow_leave(&shadows, permit, 0);
    cr_assert_eq(r.queue->waiters.total, 0);
    cr_assert_eq(told().acquires, 0);
    cr_assert_str_eq(run(0), "");
    cr_assert_eq(r.claims, 0);
    permit = enter(0, 1, ALWAYS);
    enter(0, 1, ALWAYS);
    takt_shadow_leave(&shadows, permit, 0);
    cr_assert_str_eq(run(0), "c");
    cr_assert_eq(told().waiting, 1, "it had no slot to leave to the next one");
    award(MS, MS, 1);
    takt_shadow_leave_all(&shadows, TAKT_E_CANCELED);
    run(MS);
    cr_assert_eq(told().acquires, 0, "closing tells nothing of what was to come");
    cr_assert_eq(shadows.count, 0);
}

/* A program that never releases, which limits without permits allow, costs no memory. */
Test(shadow, work_that_is_never_said_to_be_done)
{
    static takt_permit permit;

    r.limit = limit_named(1000, MS, 1000);
    r.limit.mode = TAKT_MODE_SHADOW;
    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < 1000; j++) {
            permit = (takt_permit){.cost = 1, .deadline_at_us = TAKT_NEVER};
            takt_shadow_acquire(&shadows, r.queue, &permit, NOW + i * SECOND);
            takt_scheduler_run(&r.s, NOW + i * SECOND);
            cr_assert_eq(takt_scheduler_next_fired(&r.s), &permit);
        }
        r.permit_count = 0;
        run(i * SECOND);
        takt_award all = award_of(i * SECOND, i * SECOND, 0, 1000, 1);
        answer(&r, i * SECOND, &all);
        run(i * SECOND);
    }
    cr_assert_eq(told().acquires, 20000);
    cr_assert_eq(told().waiting, 0);
    cr_assert_leq(shadows.count, 4096);
}

Test(shadow, more_than_there_may_be_are_not_measured)
{
    static takt_permit permit;

    r.limit.mode = TAKT_MODE_SHADOW;
    for (int64_t i = 0; i < TAKT_SHADOW_WAITERS_MAX + 7; i++) {
        permit = (takt_permit){.cost = 1, .deadline_at_us = TAKT_NEVER};
        takt_shadow_acquire(&shadows, r.queue, &permit, NOW);
        takt_scheduler_run(&r.s, NOW);
        cr_assert_eq(takt_scheduler_next_fired(&r.s), &permit);
    }
    cr_assert_eq(told().unmeasured, 7);
    cr_assert_eq(told().waiting, TAKT_SHADOW_WAITERS_MAX);
}

/* ---- the store is lost ----------------------------------------------------------------------- */

Test(shadow, a_lost_store_delays_nobody)
{
    static const struct {
        takt_on_store_failure mode;
        int64_t waiting, at_once, refused;
    } rows[] = {{TAKT_ON_STORE_FAILURE_WAIT, 2, 0, 0},
                {TAKT_ON_STORE_FAILURE_CLOSED, 0, 0, 2},
                {TAKT_ON_STORE_FAILURE_OPEN, 0, 2, 0}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        close_shadows();
        open_shadows();
        r.limit.on_store_failure = rows[i].mode;
        enter(0, 1, ALWAYS);
        cr_assert_str_eq(run(0), "a");
        fail(MS, TAKT_E_STORE);
        enter(MS, 1, ALWAYS);
        cr_assert_str_eq(run(MS), "b", "row %zu", i);
        cr_assert_eq(told().waiting, rows[i].waiting, "row %zu", i);
        cr_assert_eq(told().at_once, rows[i].at_once, "row %zu", i);
        cr_assert_eq(told().refused, rows[i].refused, "row %zu", i);
    }
}

/* ---- permits --------------------------------------------------------------------------------- */

#define LEASE (30 * SECOND)

static void permits_of(int64_t concurrency)
{
    r.limit = (takt_limit){.name = "test",
                           .numbers.lookahead_us = 250 * MS,
                           .numbers.concurrency = concurrency,
                           .numbers.lease_us = LEASE,
                           .mode = TAKT_MODE_SHADOW};
}

static void award_permits(int64_t at_us, int64_t holding, int64_t given)
{
    takt_award slots = award_of(at_us, at_us, 0, given, 1);

    slots.holding = holding + given;
    slots.fence = 5000;
    slots.in_line = r.queue->waiters.total > given ? 1U << 5 : 0;
    slots.claim_again_at_us = NOW + MINUTE;
    r.sent_us = at_us;
    answer(&r, at_us, &slots);
}

Test(shadow, a_ghost_holds_for_as_long_as_the_work_took)
{
    takt_permit *permit;

    permits_of(1);
    permit = enter(0, 1, ALWAYS);
    cr_assert_str_eq(run(0), "a");
    cr_assert_eq(permit->hold_count, 0, "it is the shadow_waiter's");
    takt_shadow_release(&shadows, permit,
                        NOW + 3 * SECOND); /* while the shadow waiter waits still */
    takt_shadow_release(&shadows, permit, NOW + 9 * SECOND); /* twice is once */
    award_permits(5 * SECOND, 0, 1);
    run(5 * SECOND);
    cr_assert_eq(told().waited, 1);
    cr_assert_eq(r.queue->holding.running, 1);
    cr_assert_eq(takt_shadow_pass_at(&shadows), NOW + 8 * SECOND);
    run(8 * SECOND);
    cr_assert_eq(r.queue->holding.running, 0);
    cr_assert_eq(r.claim.holding, 0, "and the ledger is told");
    cr_assert_eq(shadows.count, 0);
}

Test(shadow, a_ghost_that_began_later_ends_later)
{
    takt_permit *permit;

    permits_of(1);
    permit = enter(0, 1, ALWAYS);
    run(0);
    award_permits(2 * SECOND, 0, 1);
    run(2 * SECOND);
    takt_shadow_release(&shadows, permit, NOW + 3 * SECOND);
    run(3 * SECOND);
    cr_assert_eq(r.queue->holding.running, 1);
    run(5 * SECOND);
    cr_assert_eq(r.queue->holding.running, 0);
}

Test(shadow, what_a_ghost_loses_nobody_is_told_of)
{
    takt_permit *permit;

    permits_of(1);
    permit = enter(0, 1, ALWAYS);
    run(0);
    award_permits(0, 0, 1);
    run(0);
    run(LEASE); /* held up for that long */
    cr_assert_null(takt_permits_next_loser(&r.s));
    cr_assert_eq(r.queue->holding.running, 0);
    enter(LEASE, 1, ALWAYS);
    run(LEASE);
    award_permits(LEASE, 0, 1);
    run(LEASE);
    cr_assert_eq(r.queue->holding.running, 1, "the next one's");
    takt_shadow_release(&shadows, permit, NOW + LEASE);
    run(LEASE);
    cr_assert_eq(shadows.count, 1);
    cr_assert_eq(r.queue->holding.running, 1, "it gives nothing back that is another's");
}

/* ---- limits in one another ------------------------------------------------------------------- */

Test(shadow, a_ghost_goes_on_to_the_limit_around_it)
{
    takt_limit outer = limit_named(1, SECOND, 1);
    takt_permit *permit;
    takt_queue *queue;
    takt_shadow shadow;

    strcpy(outer.name, "outer");
    outer.mode = TAKT_MODE_SHADOW;
    r.limit.within = &outer;
    queue = takt_registry_queue(&r.s, &outer, "");
    coming = queue;
    permit = enter(0, 1, ALWAYS);
    cr_assert_str_eq(run(0), "a");
    takt_shadow_acquire(&shadows, takt_waiter_next_queue(&r.s, permit), permit, NOW);
    cr_assert_str_eq(run(0), "a");
    cr_assert_eq(queue->waiters.total, 0, "it is in the inner one yet");
    award(20 * MS, 20 * MS, 1);
    run(20 * MS);
    cr_assert_eq(told().waited, 1);
    cr_assert_eq(queue->waiters.total, 1);
    takt_shadow_tell(&shadows, "outer", &shadow);
    cr_assert_eq(shadow.waiting, 1);
    takt_shadow_vanish(&shadows, permit);
    cr_assert_eq(queue->waiters.total, 0);
    takt_shadow_tell(&shadows, "outer", &shadow);
    cr_assert_eq(shadow.acquires, 0);
}

/* A permit and its own shadow waiter stand side by side among those that are due; the shadow waiter
 * goes with it.
 */
Test(shadow, closing_with_a_permit_and_its_ghost_due)
{
    takt_permit *gone = enter(0, 1, ALWAYS), *permit;

    run(0);
    award(MS, MS, 2);
    takt_shadow_vanish(&shadows, gone);
    permit = enter(0, 1, ALWAYS);
    takt_scheduler_run(&r.s, NOW + 3000 * MS);
    takt_shadow_leave_all(&shadows, TAKT_E_CANCELED);
    cr_expect_eq(permit->status, TAKT_E_CANCELED);
    cr_expect_eq(told().waiting, 0);
}

/* The slot that a permit has from an inner limit is not one of the limit in shadow. */
Test(shadow, closing_leaves_no_slot_of_another_limit)
{
    takt_permit *permit = enter(0, 1, ALWAYS);

    permit->slot_at_us = NOW + MS;
    takt_shadow_leave_all(&shadows, TAKT_E_CANCELED);
    cr_expect_eq(permit->status, TAKT_E_CANCELED);
    cr_expect_eq(r.queue->in_hand.count, 0);
    run(MS);
}

Test(shadow, closing_counts_a_slot_that_is_due)
{
    enter(0, 1, ALWAYS);
    cr_assert_str_eq(run(0), "a");
    award(MS, MS, 1);
    takt_scheduler_run(&r.s, NOW + MS);
    takt_shadow_leave_all(&shadows, TAKT_E_CANCELED);
    run(MS);
    cr_expect_eq(told().acquires, 1);
    cr_expect_eq(told().at_once, 1);
}

/* ---- an enforced limit around one in shadow -------------------------------------------------- */

static takt_limit outer;
static takt_queue *outer_queue;

/* A permit that has passed the inner limit in shadow waits for the outer one. */
static takt_permit *wait_around(int64_t deadline_at_us)
{
    takt_permit *permit;

    outer = limit_named(1, SECOND, 1);
    strcpy(outer.name, "outer");
    r.limit.within = &outer;
    coming = outer_queue = takt_registry_queue(&r.s, &outer, "");
    permit = enter(0, 1, ALWAYS);
    cr_assert_str_eq(run(0), "a");
    permit->deadline_at_us = deadline_at_us;
    takt_shadow_enforce(&shadows, takt_waiter_next_queue(&r.s, permit), permit);
    return permit;
}

Test(shadow, a_slot_of_the_limit_around_goes_to_the_next_waiter)
{
    takt_permit *permit = wait_around(TAKT_NEVER);
    takt_award slots = award_of(MS, MS, 0, 1, 1);

    run(0);
    takt_scheduler_award(&r.s, outer_queue, &slots, NOW, NOW + MS);
    takt_scheduler_run(&r.s, NOW + MS);
    cr_assert_eq(permit->state, TAKT_PERMIT_FIRED);
    takt_shadow_leave(&shadows, permit, 0);
    cr_expect_eq(outer_queue->in_hand.count, 1);
    cr_expect_eq(told().acquires, 0, "its work does not begin");
}

Test(shadow, work_that_the_limit_around_refuses_was_never_there)
{
    wait_around(NOW + 50 * MS);
    run(0);
    cr_assert_eq(told().acquires, 1);
    cr_assert_eq(run(50 * MS)[0], 'a', "too late");
    cr_expect_eq(told().acquires, 0);
}
