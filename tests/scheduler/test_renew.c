/*
 * A new policy: queues change to its limits, waiters claim at once, and newer numbers from an award
 * stay in force.
 */
#include "scheduler/claims.h"
#include "scheduler/renew.h"
#include "scheduler/rigs.h"

static rig r;
static takt_limit next;

/* One waits in line, and is to come again in a second. */
static void set_up(void)
{
    takt_award award = award_of(0, 0, 0, 0, 1);

    open_rig(&r);
    next = limit_named(20, SECOND, 1);
    next.numbers.revision = 3;
    memcpy(next.name, r.limit.name, sizeof next.name);
    acquire_many(&r, 1);
    pass(&r, 0);
    award.in_line = 1 << 5;
    award.claim_again_at_us = NOW + SECOND;
    answer(&r, 0, &award);
    pass(&r, 0);
    cr_assert_eq(r.claims, 0);
}

static void tear_down(void)
{
    takt_scheduler_leave_all(&r.s, TAKT_E_CANCELED);
    pass(&r, SECOND);
    close_rig(&r);
}

TestSuite(renew, .init = set_up, .fini = tear_down);

static const takt_limit *find(const void *data, const takt_limit *limit, const char *key)
{
    (void)data;
    (void)key;
    return strcmp(limit->name, next.name) == 0 ? &next : NULL;
}

static const takt_successor to = {.find = find};

static bool is(const void *data, const takt_limit *limit)
{
    return limit == data;
}

Test(renew, who_waits_claims_at_once)
{
    cr_expect(takt_renew_is_used(&r.s, is, &r.limit));
    takt_renew_policy(&r.s, &to);
    pass(&r, 1);
    cr_expect_eq(r.claims, 1, "not only when it was told to");
    cr_expect_eq(r.queue->limit, &next);
    cr_expect(takt_renew_is_used(&r.s, is, &next));
    cr_expect(!takt_renew_is_used(&r.s, is, &r.limit));
}

Test(renew, a_limit_that_is_gone_stays_with_those_who_wait)
{
    strcpy(next.name, "other");
    takt_renew_policy(&r.s, &to);
    pass(&r, 1);
    cr_expect_eq(r.claims, 0);
    cr_expect_eq(r.queue->limit, &r.limit);
}

Test(renew, what_was_learned_holds_where_it_is_newer)
{
    takt_award award = award_of(MS, 0, 0, 0, 1);

    award.outdated = true;
    award.newer[0] = limit_of(5, SECOND, 1);
    award.newer[0].revision = 4;
    takt_claims_nudge(&r.s, r.queue);
    pass(&r, 1);
    answer(&r, MS, &award);
    next.priority = 2;
    takt_renew_policy(&r.s, &to);
    cr_expect_eq(r.queue->numbers->revision, 4);
    cr_expect_eq(r.queue->limit->priority, 2, "which is no ledger's");
    next.numbers.revision = 4;
    takt_renew_policy(&r.s, &to);
    cr_expect_eq(r.queue->limit, &next);
}
