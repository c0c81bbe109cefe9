/*
 * The queues that work waits in: one for its limits that enforce, and one for those in shadow.
 */
#include "scheduler/path.h"

#include <takt/takt.h>

#include "scheduler/registry.h"
#include "scheduler/rigs.h"
#include "scheduler/waiter.h"

static rig r;
static takt_limit outer, between, inner;
static takt_path path;

static takt_limit named(const char *name, const takt_limit *within)
{
    takt_limit limit = limit_named(10, SECOND, 1);

    strcpy(limit.name, name);
    limit.within = within;
    return limit;
}

static void set_up(void)
{
    open_rig(&r);
    outer = named("outer", NULL);
    between = named("between", &outer);
    inner = named("inner", &between);
}

static void tear_down(void)
{
    close_rig(&r);
}

TestSuite(path, .init = set_up, .fini = tear_down);

/* Of all three levels. */
static int find(bool renew)
{
    const takt_level levels[] = {{.limit = &inner, .key = "i", .cost = 3},
                                 {.limit = &between, .key = "b", .cost = 3},
                                 {.limit = &outer, .key = "o", .cost = 3}};

    return takt_path_find(&r.s, levels, 3, renew, &path);
}

static void expect(int at, const char *outermost, int inner_count)
{
    cr_assert_lt(at, path.count);
    cr_expect_str_eq(path.queues[at]->limit->name, outermost);
    cr_expect_eq(path.queues[at]->nest ? path.queues[at]->nest->count : 0, inner_count);
    cr_expect_eq(path.costs[at], 3);
}

Test(path, limits_that_enforce_have_one_queue)
{
    cr_assert_eq(find(true), 0);
    cr_assert_eq(path.count, 1);
    cr_expect(path.enforcing);
    expect(0, "outer", 2);
}

Test(path, those_in_shadow_have_one_behind_it)
{
    between.mode = TAKT_MODE_SHADOW;
    cr_assert_eq(find(true), 0);
    cr_assert_eq(path.count, 2);
    expect(0, "outer", 1);
    expect(1, "between", 0);
    outer.mode = TAKT_MODE_SHADOW;
    cr_assert_eq(find(true), 0);
    cr_expect(path.enforcing);
    expect(0, "inner", 0);
    expect(1, "outer", 1);
    inner.mode = TAKT_MODE_SHADOW;
    cr_assert_eq(find(true), 0);
    cr_expect_not(path.enforcing);
    cr_assert_eq(path.count, 1);
    expect(0, "outer", 2);
}

Test(path, unlimited_keys_take_no_part)
{
    between.access = TAKT_ACCESS_UNLIMITED;
    cr_assert_eq(find(true), 0);
    expect(0, "outer", 1);
    outer.access = TAKT_ACCESS_UNLIMITED;
    cr_assert_eq(find(true), 0);
    expect(0, "inner", 0);
    inner.access = TAKT_ACCESS_UNLIMITED;
    cr_assert_eq(find(true), 0);
    cr_assert_eq(path.count, 1);
    cr_expect(path.enforcing);
    expect(0, "inner", 0);
}

/* An acquire knows what its limits are now; others do not change what waits. */
Test(path, a_queue_with_waiters_keeps_its_limits_unless_it_is_renewed)
{
    static takt_permit permit = {.cost = 3, .priority = 5, .deadline_at_us = TAKT_NEVER};
    takt_limit next = inner;
    const takt_level old = {.limit = &inner, .key = "i", .cost = 3};
    const takt_level new = {.limit = &next, .key = "i", .cost = 3};

    cr_assert_eq(takt_path_find(&r.s, &old, 1, true, &path), 0);
    takt_path_enter(&r.s, &permit, &path);
    cr_assert_eq(takt_path_find(&r.s, &new, 1, false, &path), 0);
    cr_expect_eq(path.queues[0], permit.queue);
    cr_expect_eq(path.queues[0]->limit, &inner);
    cr_assert_eq(takt_path_find(&r.s, &new, 1, true, &path), 0);
    cr_expect_eq(path.queues[0]->limit, &next);
    takt_waiter_leave(&r.s, &permit, 0);
}

/* A policy with such limits is refused. */
Test(path, levels_that_no_claim_decides_about)
{
    between.fair = TAKT_FAIR_TENANT;
    cr_expect_eq(find(true), TAKT_E_POLICY);
}
