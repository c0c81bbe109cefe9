/*
 * Shadow waiters: when they begin, and what becomes of them when their work is done early or never
 * said to be done, when there are too many of them, when the store is lost, and when a lease is
 * over.
 */
#include "scheduler/losses.h"
#include "scheduler/permits.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"

static takt_shadows shadows;

static bool take(takt_permit *permit)
{
    if (takt_shadow_call_back(&shadows, permit))
        return true;
    takt_shadow_start(&shadows, permit);
    return false;
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

/* Passes as a driver of limits in shadow makes them: work that starts leads to another one. */
static const char *run(int64_t at_us)
{
    static char fired[2 * sizeof r.fired];

    takt_shadow_tick(&shadows, NOW + at_us);
    strcpy(fired, pass(&r, at_us));
    if (!takt_list_empty(&r.s.touched))
        strcat(fired, pass(&r, at_us));
    return fired;
}

TestSuite(shadow, .init = open_shadows, .fini = close_shadows);

static void ask(takt_permit *permit)
{
    takt_waiter_expect(&r.s, r.queue, permit->cost, TAKT_NO_MORE, permit);
    takt_waiter_start(&r.s, permit);
}

static takt_permit *enter(int32_t cost, int64_t deadline_us)
{
    takt_permit *permit = &r.permits[r.permit_count++];

    r.limit.mode = TAKT_MODE_SHADOW;
    *permit =
        (takt_permit){.cost = cost,
                      .priority = 5,
                      .deadline_at_us = deadline_us == ALWAYS ? TAKT_NEVER : NOW + deadline_us};
    ask(permit);
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
    enter(1, ALWAYS);
    enter(1, ALWAYS);
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
    enter(1, 50 * MS);
    enter(1, ALWAYS);
    enter(1000, ALWAYS); /* a cost that no rule ever gives: enforced, the request would fail */
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
    takt_permit *permit = enter(1, ALWAYS);

    takt_waiter_leave(&r.s, permit, 0);
    cr_assert_eq(r.queue->waiters.total, 0);
    cr_assert_eq(r.queue->coming, 0);
    cr_assert_str_eq(run(0), "");
    cr_assert_eq(r.claims, 0);
    permit = enter(1, ALWAYS);
    enter(1, ALWAYS);
    takt_waiter_leave(&r.s, permit, 0);
    cr_assert_str_eq(run(0), "c");
    cr_assert_eq(told().waiting, 1, "it had no slot to leave to the next one");
    award(MS, MS, 1);
    takt_shadow_leave_all(&shadows, TAKT_E_CANCELED);
    run(MS);
    cr_assert_eq(told().acquires, 0, "closing tells nothing of what was to come");
    cr_assert_eq(shadows.count, 0);
}

/* Nothing else is due. */
static void start(takt_permit *permit, int64_t at_us)
{
    *permit = (takt_permit){.cost = 1, .deadline_at_us = TAKT_NEVER};
    ask(permit);
    takt_shadow_tick(&shadows, NOW + at_us);
    takt_scheduler_run(&r.s, NOW + at_us);
    cr_assert_eq(takt_scheduler_next_fired(&r.s), permit);
    takt_shadow_start(&shadows, permit);
}

/* A program that never releases, which limits without permits allow, costs no memory. */
Test(shadow, work_that_is_never_said_to_be_done)
{
    static takt_permit permit;

    r.limit = limit_named(1000, MS, 1000);
    r.limit.mode = TAKT_MODE_SHADOW;
    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < 1000; j++) {
            start(&permit, i * SECOND);
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
        start(&permit, 0);
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
        enter(1, ALWAYS);
        cr_assert_str_eq(run(0), "a");
        fail(MS, TAKT_E_STORE);
        enter(1, ALWAYS);
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
    permit = enter(1, ALWAYS);
    cr_assert_str_eq(run(0), "a");
    cr_assert_eq(permit->hold, TAKT_HOLD_NONE, "it is the shadow_waiter's");
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
    permit = enter(1, ALWAYS);
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
    permit = enter(1, ALWAYS);
    run(0);
    award_permits(0, 0, 1);
    run(0);
    run(LEASE); /* held up for that long */
    cr_assert_null(takt_permits_next_loser(&r.s));
    cr_assert_eq(r.queue->holding.running, 0);
    enter(1, ALWAYS);
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

static takt_limit outer;
static takt_queue *outer_queue;

static void open_outer(takt_mode mode)
{
    outer = limit_named(1, SECOND, 1);
    strcpy(outer.name, "outer");
    outer.mode = mode;
    r.limit.within = &outer;
    outer_queue = takt_registry_queue(&r.s, &outer, "");
}

static takt_shadow told_outer(void)
{
    takt_shadow shadow;

    takt_shadow_tell(&shadows, "outer", &shadow);
    return shadow;
}

static void nest_queues(void)
{
    takt_chain chain = {.limits = {&r.limit, &outer}, .keys = {"key", ""}, .count = 2};

    r.limit.mode = TAKT_MODE_SHADOW;
    open_outer(TAKT_MODE_SHADOW);
    r.queue = takt_registry_nested(&r.s, &chain, NULL, 1);
}

Test(shadow, a_ghost_of_one_decision_counts_at_all_its_limits)
{
    nest_queues();
    enter(1, ALWAYS);
    enter(1, 50 * MS);
    cr_assert_str_eq(run(0), "ab");
    cr_assert_eq(told().waiting, 2);
    cr_assert_eq(told_outer().waiting, 2);
    award(20 * MS, 20 * MS, 1);
    run(20 * MS);
    cr_assert_eq(told().waited, 1);
    cr_assert_eq(told().max_us, 20 * MS);
    cr_assert_eq(told_outer().waited, 1);
    run(60 * MS);
    cr_assert_eq(told().refused_late, 1);
    cr_assert_eq(told_outer().refused_late, 1);
}

/* There may be no more shadow waiters. */
Test(shadow, what_is_not_measured_counts_at_each_limit)
{
    static takt_permit permit;

    nest_queues();
    for (int64_t i = 0; i < TAKT_SHADOW_WAITERS_MAX + 7; i++)
        start(&permit, 0);
    cr_assert_eq(told().unmeasured, 7);
    cr_assert_eq(told_outer().unmeasured, 7);
    cr_assert_eq(told_outer().acquires, TAKT_SHADOW_WAITERS_MAX + 7);
}

Test(shadow, closing_before_the_callback)
{
    takt_permit *permit = enter(1, ALWAYS);

    takt_scheduler_run(&r.s, NOW);
    takt_shadow_leave_all(&shadows, TAKT_E_CANCELED);
    cr_expect_eq(permit->status, TAKT_E_CANCELED);
    run(0);
    cr_expect_eq(told().acquires, 0);
    cr_expect_eq(shadows.count, 0);
}

/* The slot that a permit has from an inner limit is not one of the limit in shadow. */
Test(shadow, closing_leaves_no_slot_of_another_limit)
{
    takt_permit *permit = enter(1, ALWAYS);

    permit->slot_at_us = NOW + MS;
    takt_shadow_leave_all(&shadows, TAKT_E_CANCELED);
    cr_expect_eq(permit->status, TAKT_E_CANCELED);
    cr_expect_eq(r.queue->in_hand.count, 0);
    run(MS);
}

Test(shadow, closing_counts_a_slot_that_is_due)
{
    enter(1, ALWAYS);
    cr_assert_str_eq(run(0), "a");
    award(MS, MS, 1);
    takt_scheduler_run(&r.s, NOW + MS);
    takt_shadow_leave_all(&shadows, TAKT_E_CANCELED);
    run(MS);
    cr_expect_eq(told().acquires, 1);
    cr_expect_eq(told().at_once, 1);
}

/* ---- a limit that enforces around one in shadow ---------------------------------------------- */

/* A permit waits for the outer limit, and is to pass the inner one then. */
static takt_permit *wait_around(int64_t deadline_at_us)
{
    takt_permit *permit = &r.permits[r.permit_count++];

    r.limit.mode = TAKT_MODE_SHADOW;
    open_outer(TAKT_MODE_ENFORCE);
    *permit = (takt_permit){.cost = 1, .priority = 5, .deadline_at_us = deadline_at_us};
    takt_waiter_expect(&r.s, r.queue, 1, TAKT_NO_MORE, permit);
    takt_waiter_acquire(&r.s, outer_queue, permit);
    return permit;
}

static void award_around(int64_t at_us)
{
    takt_award slots = award_of(at_us, at_us, 0, 1, 1);

    takt_scheduler_award(&r.s, outer_queue, &slots, NOW, NOW + at_us);
}

/* The shadow measures what the work would have waited besides. */
Test(shadow, a_ghost_begins_when_its_work_starts)
{
    takt_permit *permit = wait_around(TAKT_NEVER);

    run(0);
    cr_assert_eq(told().acquires, 0);
    award_around(500 * MS);
    cr_assert_str_eq(run(500 * MS), "a");
    cr_expect_eq(permit->slot_at_us, NOW + 500 * MS);
    cr_expect_null(permit->shadow_queue);
    cr_expect_eq(told().waiting, 1);
    award(700 * MS, 700 * MS, 1);
    run(700 * MS);
    cr_expect_eq(told().max_us, 200 * MS);
}

Test(shadow, a_slot_of_the_limit_around_goes_to_the_next_waiter)
{
    takt_permit *permit = wait_around(TAKT_NEVER);

    run(0);
    award_around(MS);
    takt_scheduler_run(&r.s, NOW + MS);
    cr_assert_eq(permit->state, TAKT_PERMIT_FIRED);
    takt_waiter_leave(&r.s, permit, 0);
    cr_expect_eq(outer_queue->in_hand.count, 1);
    cr_expect_eq(r.queue->coming, 0);
    cr_expect_eq(told().acquires, 0, "its work does not begin");
}

Test(shadow, work_that_the_limit_around_refuses_was_never_there)
{
    wait_around(NOW + 50 * MS);
    run(0);
    cr_assert_eq(run(50 * MS)[0], 'a', "too late");
    cr_expect_eq(told().acquires, 0);
    cr_expect_eq(r.queue->coming, 0);
}
