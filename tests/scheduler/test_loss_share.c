/*
 * While the store is lost, with `share`: when and how fast this worker paces its own waiters;
 * blocks and tries.
 */
#include "scheduler/loss.h"
#include "scheduler/losses.h"
#include "scheduler/registry.h"

TestSuite(loss_share, .init = set_up, .fini = tear_down);

/* A known block holds, also for waiters that are granted otherwise. */
Test(loss_share, a_block_holds)
{
    static const takt_on_store_failure modes[] = {TAKT_ON_STORE_FAILURE_OPEN,
                                                  TAKT_ON_STORE_FAILURE_SHARE};

    for (size_t i = 0; i < COUNT(modes); i++) {
        takt_award award = award_of(0, 2 * SECOND, 0, 0, 1);
        takt_standing standing;
        close_rig(&r);
        open_rig(&r);
        r.limit.on_store_failure = modes[i];
        acquire_many(&r, 1);
        pass(&r, 0);
        award.in_line = 1U << 5;
        award.workers = 1;
        award.claim_again_at_us = NOW + MS;
        award.blocked_until_us = NOW + 2 * SECOND;
        answer(&r, 0, &award);
        pass(&r, MS);
        fail(2 * MS, TAKT_E_STORE);
        cr_assert_str_eq(run_alone(2 * MS, 2 * SECOND - 1), "", "row %zu", i);
        cr_assert_eq(takt_loss_try_alone(&r.s, r.queue, TAKT_E_STORE, 1, TAKT_NO_MORE, NOW + SECOND,
                                         &standing),
                     TAKT_E_NO_SLOT);
        cr_assert_eq(standing.blocked_until_us, NOW + 2 * SECOND);
        run_alone(2 * SECOND, 3 * SECOND);
        cr_assert_eq(r.queue->waiters.total, 0);
        cr_assert_geq(r.permits[0].slot_at_us, NOW + 2 * SECOND);
    }
}

/* 10/s among 4: one each 400 ms, the first not before all slots given before are past. */
Test(loss_share, share_paces_at_this_workers_part)
{
    int64_t before_us = 0;

    r.limit = limit_named(10, SECOND, 10);
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    acquire_many(&r, 6);
    acquire(&r, 1, 1, ALWAYS);
    pass(&r, 0);
    hear(0, 4);
    pass(&r, 0);
    fail(MS, TAKT_E_STORE);
    cr_assert_str_eq(pass(&r, MS), "", "no burst");
    run_alone(2 * MS, 3 * SECOND);
    cr_assert_eq(r.queue->waiters.total, 0);
    for (int i = 6; i >= 0; i = i == 6 ? 0 : i == 5 ? -1 : i + 1) { /* g goes before a to f */
        int64_t slot_us = r.permits[i].slot_at_us - NOW;
        if (before_us == 0)
            cr_assert(slot_us >= 251 * MS - 10 && slot_us <= 652 * MS, "%" PRId64, slot_us);
        else
            cr_assert_eq(slot_us - before_us, 400 * MS);
        before_us = slot_us;
    }
    cr_assert_eq(fallbacks(), 1);
}

/* The ledger's last announcement holds: no slot before its next one. */
Test(loss_share, share_begins_after_the_slots_that_the_ledger_had_left)
{
    takt_award award = award_of(0, 5 * SECOND, 0, 0, 1);

    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    acquire_many(&r, 1);
    pass(&r, 0);
    award.in_line = 1U << 5;
    award.workers = 1;
    award.claim_again_at_us = NOW + MS;
    answer(&r, 0, &award);
    pass(&r, MS);
    fail(2 * MS, TAKT_E_STORE);
    run_alone(2 * MS, 6 * SECOND);
    cr_assert_eq(r.queue->waiters.total, 0);
    cr_assert_geq(r.permits[0].slot_at_us, NOW + 5 * SECOND);
}

Test(loss_share, share_goes_by_the_most_workers_of_the_last_minute)
{
    static const struct {
        int64_t first, then, later_us;
        int64_t interval_us;
    } rows[] = {{8, 2, SECOND, 800 * MS},
                {8, 2, 61 * SECOND, 200 * MS},
                {2, 8, SECOND, 800 * MS},
                {3, 3, 61 * SECOND, 300 * MS}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        close_rig(&r);
        open_rig(&r);
        r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
        acquire_many(&r, 2);
        pass(&r, 0);
        hear(0, rows[i].first);
        pass(&r, rows[i].later_us);
        hear(rows[i].later_us, rows[i].then);
        pass(&r, rows[i].later_us);
        fail(rows[i].later_us, TAKT_E_STORE);
        run_alone(rows[i].later_us, rows[i].later_us + 10 * SECOND);
        cr_assert_eq(r.permits[1].slot_at_us - r.permits[0].slot_at_us, rows[i].interval_us,
                     "row %zu", i);
    }
}

/* Server 2 is a second ahead.  A share that was begun by the clock of server 1 would start work at
 * once, while slots that server 2 gave may still be due elsewhere. */
Test(loss_share, share_begins_anew_on_another_server)
{
    takt_award award = award_of(0, 0, 0, 0, 1);
    int64_t lookahead_us = r.limit.numbers.lookahead_us, lost_us;

    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    award.workers = 1;
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW;
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_scheduler_set_server(&r.s, r.queue, 1);
    answer(&r, 0, &award);
    pass(&r, 0);
    fail(MS, TAKT_E_STORE);
    run_alone(MS, 3 * SECOND);
    cr_assert_eq(r.queue->waiters.total, 0);
    for (r.claims = 0; r.claims == 0; pass(&r, wake_us(&r))) /* the share may serve it before */
        if (r.queue->waiters.total == 0)
            acquire_many(&r, 1);
    award = award_of(r.sent_us + SECOND, r.sent_us + SECOND, 0, 1, 1);
    award.workers = 1;
    takt_scheduler_set_server(&r.s, r.queue, 2);
    answer(&r, r.sent_us, &award);
    lost_us = r.sent_us + 50 * MS;
    pass(&r, r.sent_us + MS);
    cr_assert_eq(r.queue->waiters.total, 0);
    acquire_many(&r, 1);
    pass(&r, lost_us);
    cr_assert_eq(r.claims, 1);
    fail(lost_us, TAKT_E_STORE);
    cr_assert_str_eq(pass(&r, lost_us), "");
    run_alone(lost_us, lost_us + 2 * SECOND);
    cr_assert_geq(r.permits[r.permit_count - 1].slot_at_us,
                  NOW + SECOND + lost_us + lookahead_us - MS);
}

/* A worker without any answer of the store does not know how many workers share; an unknown ledger
 * is shared like the others. */
Test(loss_share, share_needs_to_have_heard_of_workers)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    acquire_many(&r, 1);
    pass(&r, 0);
    fail(0, TAKT_E_STORE);
    cr_assert_str_eq(run_alone(0, 10 * SECOND), "");
    cr_assert_eq(fallbacks(), 0);
    while (r.claims == 0)
        pass(&r, wake_us(&r));
    hear(r.sent_us, 2);
    pass(&r, r.sent_us);
    fail(r.sent_us, TAKT_E_STORE);
    r.queue = takt_registry_queue(&r.s, &r.limit, "new");
    acquire_many(&r, 2);
    run_alone(r.sent_us, r.sent_us + 10 * SECOND);
    cr_assert_eq(r.queue->waiters.total, 0);
    cr_assert_eq(r.permits[2].slot_at_us - r.permits[1].slot_at_us, 200 * MS);
}

Test(loss_share, what_a_try_is_told)
{
    static const struct {
        takt_on_store_failure mode;
        int status, expected;
    } rows[] = {{TAKT_ON_STORE_FAILURE_WAIT, TAKT_E_STORE, TAKT_E_STORE},
                {TAKT_ON_STORE_FAILURE_CLOSED, TAKT_E_STORE, TAKT_E_STORE},
                {TAKT_ON_STORE_FAILURE_OPEN, TAKT_E_STORE, 0},
                {TAKT_ON_STORE_FAILURE_OPEN, TAKT_E_STORE_SPACE, 0},
                {TAKT_ON_STORE_FAILURE_OPEN, TAKT_E_CANCELED, TAKT_E_CANCELED},
                {TAKT_ON_STORE_FAILURE_SHARE, TAKT_E_STORE, TAKT_E_STORE}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_standing standing = {0};
        close_rig(&r);
        open_rig(&r);
        r.limit.on_store_failure = rows[i].mode;
        cr_assert_eq(
            takt_loss_try_alone(&r.s, r.queue, rows[i].status, 1, TAKT_NO_MORE, NOW, &standing),
            rows[i].expected, "row %zu", i);
        cr_assert_eq(standing.limit, rows[i].expected == 0 ? 1 : 0, "row %zu", i);
    }
}

Test(loss_share, tries_share_too)
{
    takt_standing standing;
    int64_t at_us = 0;

    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 1, 1);
    award.workers = 3; /* and this one */
    answer(&r, 0, &award);
    pass(&r, 0);
    for (int i = 0; i < 10; i++) {
        int64_t waited_us = at_us;
        int status;
        while ((status = takt_loss_try_alone(&r.s, r.queue, TAKT_E_STORE, 1, TAKT_NO_MORE,
                                             NOW + at_us, &standing)) == TAKT_E_NO_SLOT) {
            cr_assert_gt(standing.retry_after_us, 0);
            at_us += standing.retry_after_us + SECOND / 5000; /* the clocks may drift apart */
        }
        cr_assert_eq(status, 0);
        if (i > 0)
            cr_assert(at_us - waited_us >= 399 * MS && at_us - waited_us <= 405 * MS, "%" PRId64,
                      at_us - waited_us);
    }
    acquire_many(&r, 1); /* waiters go first */
    takt_loss_begin(&r.s, &r.s.servers.first, TAKT_E_STORE, NOW + at_us);
    pass(&r, at_us);
    cr_assert_eq(
        takt_loss_try_alone(&r.s, r.queue, TAKT_E_STORE, 1, TAKT_NO_MORE, NOW + at_us, &standing),
        TAKT_E_NO_SLOT);
}

/* A waiter leaves at its deadline, also if the pace here would serve it later. */
Test(loss_share, deadlines_come_while_alone)
{
    r.limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    acquire(&r, 5, 1, 200 * MS);
    pass(&r, 0);
    hear(0, 1000);
    pass(&r, 0);
    fail(0, TAKT_E_STORE);
    cr_assert_str_eq(run_alone(0, SECOND), "a-6@200 ");
}
