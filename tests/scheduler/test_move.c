/*
 * Work that waits while a policy changes the modes of its limits, or the limits around them: where
 * it waits afterwards, and what stays where it is.
 */
#include "scheduler/path.h"
#include "scheduler/registry.h"
#include "scheduler/renew.h"
#include "scheduler/rigs.h"

static rig r;
static takt_limit outer, between, inner;       /* of the first policy */
static takt_limit outer_2, between_2, inner_2; /* of the next one */
static bool is_gone;                           /* the next policy has no limit between */
static bool inner_is_gone;                     /* ... no inner one */
static int32_t cost;                           /* that the work states at each level */

static takt_limit named(const char *name, const takt_limit *within)
{
    takt_limit limit = limit_named(10, SECOND, 1);

    strcpy(limit.name, name);
    limit.within = within;
    limit.default_weight = 1;
    return limit;
}

/* A limit in shadow is between two that enforce. */
static void set_up(void)
{
    open_rig(&r);
    outer = named("outer", NULL);
    between = named("between", &outer);
    inner = named("inner", &between);
    between.mode = TAKT_MODE_SHADOW;
    is_gone = inner_is_gone = false;
    cost = 1;
}

static void tear_down(void)
{
    close_rig(&r);
}

TestSuite(move, .init = set_up, .fini = tear_down);

static const takt_limit *before(const void *data, const char *name)
{
    (void)data;
    return name[0] == 'i' ? &inner : name[0] == 'b' ? &between : &outer;
}

static const takt_limit *find(const void *data, const takt_limit *limit, const char *key)
{
    (void)data;
    (void)key;
    if (strcmp(limit->name, "between") == 0)
        return is_gone ? NULL : &between_2;
    if (strcmp(limit->name, "outer") == 0)
        return &outer_2;
    return inner_is_gone ? NULL : &inner_2;
}

static int32_t weigh(const void *data, const takt_limit *limit, const char *tenant, int32_t weight)
{
    (void)data;
    (void)tenant;
    return limit->fair == TAKT_FAIR_WORKER ? 1 : weight;
}

/* What it takes there is what it takes of the innermost limit. */
static bool join(void *data, const takt_level *levels, int count, const takt_level *inside,
                 const takt_limit *outermost, const char *tenant, takt_level *joined)
{
    (void)data;
    cr_expect_gt(count, 0);
    cr_expect_str_eq(inside->key, inside->limit->name[0] == 'i' ? "ann" : "");
    *joined = (takt_level){.limit = outermost,
                           .key = "",
                           .tenant = outermost->fair == TAKT_FAIR_WORKER ? NULL : tenant,
                           .weight = 1,
                           .cost = levels[0].cost};
    return true;
}

/* The limit between enforces; a test may have changed more. */
static void begin_next(void)
{
    outer_2 = outer;
    between_2 = between;
    inner_2 = inner;
    inner_2.within = &between_2;
    between_2.within = &outer_2;
    between_2.mode = TAKT_MODE_ENFORCE;
}

/* The inner limit is directly within the outer one. */
static void remove_between(void)
{
    is_gone = true;
    inner_2.within = &outer_2;
}

static void renew(void)
{
    const takt_successor to = {before, find, weigh, join, NULL};

    takt_renew_policy(&r.s, &to);
}

/* Work of the inner limit and of limits around it. */
static takt_permit *wait_in(const takt_level *levels, int count)
{
    takt_permit *permit = &r.permits[r.permit_count++];
    takt_path path;

    *permit = (takt_permit){.priority = 5, .deadline_at_us = TAKT_NEVER};
    cr_assert_eq(takt_path_find(&r.s, levels, count, true, &path), 0);
    takt_path_enter(&r.s, permit, &path);
    return permit;
}

static takt_permit *wait_for(const char *tenant)
{
    const takt_level levels[] = {
        {.limit = &inner, .key = "ann", .weight = 1, .cost = cost},
        {.limit = &between, .key = "a", .weight = 1, .cost = cost},
        {.limit = &outer, .key = "", .tenant = tenant, .weight = 3, .cost = cost}};

    return wait_in(levels, 3);
}

static void expect_waits(const takt_permit *permit, int levels, const char *shadow)
{
    cr_expect_eq(permit->state, TAKT_PERMIT_WAITING);
    cr_expect_eq(1 + (permit->queue->nest ? permit->queue->nest->count : 0), levels);
    if (shadow)
        cr_expect_str_eq(permit->shadow_queue->limit->name, shadow);
    else
        cr_expect_null(permit->shadow_queue);
}

Test(move, a_level_between_enforces_now_and_does_so_no_longer)
{
    takt_permit *permit = wait_for(NULL);
    const takt_queue *before = permit->queue;

    expect_waits(permit, 2, "between");
    begin_next();
    renew();
    expect_waits(permit, 3, NULL);
    cr_expect_str_eq(permit->queue->limit->name, "outer");
    cr_expect_str_eq(permit->queue->nest->inner[0].limit->name, "inner");
    cr_expect_str_eq(permit->queue->nest->inner[1].limit->name, "between");
    cr_expect_eq(permit->queue->nest->inner[1].limit, &between_2);
    between = between_2;
    between.mode = TAKT_MODE_SHADOW;
    between_2 = between;
    renew();
    expect_waits(permit, 2, "between");
    cr_expect_eq(permit->queue, before);
}

Test(move, nothing_moves_if_no_mode_changes)
{
    takt_permit *permit = wait_for(NULL);
    const takt_queue *queue = permit->queue;

    begin_next();
    between_2.mode = TAKT_MODE_SHADOW;
    renew();
    cr_expect_eq(permit->queue, queue);
    cr_expect_eq(queue->limit, &outer_2);
}

Test(move, tenants_stay)
{
    takt_permit *acme, *beta;

    outer.fair = TAKT_FAIR_TENANT;
    acme = wait_for("acme");
    beta = wait_for("beta");
    begin_next();
    renew();
    expect_waits(acme, 3, NULL);
    expect_waits(beta, 3, NULL);
    cr_expect_neq(acme->queue, beta->queue);
    cr_expect_str_eq(acme->queue->turn->tenant, "acme");
    cr_expect_str_eq(beta->queue->turn->tenant, "beta");
    cr_expect_eq(acme->queue->turn->weight, 3);
}

/* The next policy bounds the waiters of the limit: those that wait are accepted. */
Test(move, no_bound_refuses_what_was_accepted)
{
    takt_permit *permit = wait_for(NULL);

    wait_for(NULL);
    begin_next();
    between_2.numbers.max_waiting = 1;
    renew();
    cr_expect_eq(permit->queue->waiters.total, 2);
    cr_expect_eq(permit->queue->waiters.counted, 2);
}

/* A limit that they wait for has bounded them before, and no award has counted them. */
Test(move, newcomers_stay_newcomers)
{
    takt_permit *permit;

    outer.numbers.max_waiting = 9;
    permit = wait_for(NULL);
    begin_next();
    renew();
    expect_waits(permit, 3, NULL);
    cr_expect_eq(permit->queue->waiters.counted, 0);
}

Test(move, tickets_and_shadow_waiters_stay)
{
    takt_permit *ticket = wait_for(NULL), *shadow_waiter = wait_for(NULL);
    const takt_queue *queue = ticket->queue;

    ticket->ticket = shadow_waiter->shadow = true;
    begin_next();
    renew();
    cr_expect_eq(ticket->queue, queue);
    cr_expect_eq(shadow_waiter->queue, queue);
}

/* The others that it waits for are those of the new policy. */
Test(move, an_innermost_limit_that_is_gone_stays_what_it_was)
{
    takt_permit *permit = wait_for(NULL);

    begin_next();
    inner_is_gone = true;
    renew();
    expect_waits(permit, 3, NULL);
    cr_expect_eq(permit->queue->nest->inner[0].limit, &inner);
    cr_expect_eq(permit->queue->nest->inner[1].limit, &between_2);
}

/* The inner limit is gone, and the limit between has tenants and is the outermost one elsewhere: no
 * claim states these. */
Test(move, work_stays_if_no_claim_can_decide_about_its_levels)
{
    takt_permit *permit = wait_for(NULL);
    const takt_queue *queue = permit->queue;

    begin_next();
    inner_is_gone = true;
    between_2.within = NULL;
    between_2.fair = TAKT_FAIR_TENANT;
    renew();
    cr_expect_eq(permit->queue, queue);
    expect_waits(permit, 2, "between");
}

/* Its slot is in hand again. */
Test(move, work_moves_whose_callback_is_due)
{
    takt_permit *due = wait_for(NULL), *later = wait_for(NULL);
    takt_queue *before = due->queue;

    due->slot_at_us = NOW;
    takt_waiter_fire(&r.s, due, 0);
    begin_next();
    renew();
    expect_waits(due, 3, NULL);
    cr_expect_eq(due->slot_at_us, 0);
    cr_expect_eq(takt_queue_first(due->queue), due, "it came first");
    cr_expect_eq(takt_queue_last(due->queue), later);
    cr_expect_eq(before->in_hand.count, 1);
    cr_expect_null(takt_scheduler_next_fired(&r.s));
}

/* It has waited for more than it would have to now. */
Test(move, work_goes_on_whose_callback_is_due)
{
    takt_permit *due;

    between.mode = TAKT_MODE_ENFORCE;
    due = wait_for(NULL);
    takt_waiter_fire(&r.s, due, 0);
    begin_next();
    between_2.mode = TAKT_MODE_SHADOW;
    renew();
    cr_expect_eq(takt_scheduler_next_fired(&r.s), due);
}

Test(move, what_nothing_holds_up_any_longer_starts)
{
    takt_permit *permit = wait_for(NULL);

    begin_next();
    outer_2.mode = between_2.mode = inner_2.mode = TAKT_MODE_SHADOW;
    renew();
    cr_expect_eq(takt_scheduler_next_fired(&r.s), permit);
    cr_expect_eq(permit->uncharged, 1);
    cr_expect_eq(permit->shadow_queue->nest->count, 2);
    takt_waiter_release(&r.s, permit);
}

Test(move, what_can_never_be_given_is_refused)
{
    takt_permit *permit = wait_for(NULL);

    begin_next();
    between_2.access = TAKT_ACCESS_REFUSED;
    renew();
    cr_expect_eq(takt_scheduler_next_fired(&r.s), permit);
    cr_expect_eq(permit->status, TAKT_E_COST);
}

/* The outer limit holds up work now that has waited for the inner one. */
Test(move, what_a_new_outer_limit_can_never_give_is_refused)
{
    takt_permit *permit;

    outer.mode = TAKT_MODE_SHADOW;
    between.mode = TAKT_MODE_ENFORCE;
    outer.numbers = between.numbers = inner.numbers = limit_named(10, SECOND, 3).numbers;
    cost = 3;
    permit = wait_for(NULL);
    begin_next();
    outer_2.mode = TAKT_MODE_ENFORCE;
    outer_2.numbers = limit_named(10, SECOND, 1).numbers;
    remove_between();
    renew();
    cr_expect_eq(takt_scheduler_next_fired(&r.s), permit);
    cr_expect_eq(permit->status, TAKT_E_COST);
}

/* ---- other limits around --------------------------------------------------------------------- */

/* Work of the inner limit alone. */
static takt_permit *wait_alone(void)
{
    const takt_level alone = {.limit = &inner, .key = "ann", .weight = 1, .cost = cost};

    inner.within = NULL;
    return wait_in(&alone, 1);
}

static void expect_inside(const takt_queue *queue, int at, const takt_limit *limit, const char *key)
{
    cr_expect_eq(queue->nest->inner[at].limit, limit);
    cr_expect_str_eq(queue->nest->inner[at].key, key);
}

Test(move, work_waits_for_limits_that_are_around_its_own_now)
{
    takt_permit *permit;

    cost = 3;
    outer.numbers = between.numbers = inner.numbers = limit_named(10, SECOND, 3).numbers;
    permit = wait_alone();
    expect_waits(permit, 1, NULL);
    begin_next();
    between_2.mode = TAKT_MODE_ENFORCE;
    renew();
    expect_waits(permit, 3, NULL);
    expect_inside(permit->queue, 0, &inner_2, "ann");
    expect_inside(permit->queue, 1, &between_2, "");
    cr_expect_str_eq(permit->queue->limit->name, "outer");
    cr_expect_eq(permit->cost, 3);
}

Test(move, a_limit_that_joins_in_shadow_only_counts)
{
    takt_permit *permit = wait_alone();

    begin_next();
    between_2.mode = outer_2.mode = TAKT_MODE_SHADOW;
    renew();
    expect_waits(permit, 1, "outer");
    expect_inside(permit->shadow_queue, 0, &between_2, "");
}

/* A limit joins between two that keep their keys. */
Test(move, work_keeps_its_keys_if_a_limit_joins_between)
{
    const takt_level levels[] = {{.limit = &inner, .key = "ann", .weight = 1, .cost = 1},
                                 {.limit = &outer, .key = "eu", .weight = 1, .cost = 1}};
    takt_permit *permit;

    inner.within = &outer;
    permit = wait_in(levels, 2);
    begin_next();
    renew();
    expect_waits(permit, 3, NULL);
    expect_inside(permit->queue, 0, &inner_2, "ann");
    expect_inside(permit->queue, 1, &between_2, "");
    cr_expect_str_eq(permit->queue->key, "eu");
}

/* The first work that moves gives their shadow queue its new limit. */
Test(move, a_limit_joins_for_all_work_of_a_shadow_queue)
{
    const takt_level levels[] = {{.limit = &inner, .key = "ann", .weight = 1, .cost = 1},
                                 {.limit = &outer, .key = "", .weight = 1, .cost = 1}};
    takt_permit *first, *second;

    inner.mode = TAKT_MODE_SHADOW;
    inner.within = &outer;
    first = wait_in(levels, 2);
    second = wait_in(levels, 2);
    begin_next();
    renew();
    expect_waits(first, 2, "inner");
    expect_waits(second, 2, "inner");
}

Test(move, work_leaves_limits_that_are_around_its_own_no_longer)
{
    takt_permit *permit = wait_for(NULL);

    begin_next();
    remove_between();
    renew();
    expect_waits(permit, 2, NULL);
    expect_inside(permit->queue, 0, &inner_2, "ann");
    cr_expect_eq(permit->queue->limit, &outer_2);
    inner = inner_2;
    inner_2.within = NULL;
    renew();
    expect_waits(permit, 1, NULL);
    cr_expect_str_eq(permit->queue->limit->name, "inner");
}

/* Its key there is unlimited, and the work has no level for it. */
Test(move, a_limit_that_was_around_before_does_not_join)
{
    const takt_level levels[] = {{.limit = &inner, .key = "ann", .weight = 1, .cost = 1},
                                 {.limit = &outer, .key = "", .weight = 1, .cost = 1}};
    takt_permit *permit = wait_in(levels, 2);
    const takt_queue *queue = permit->queue;

    begin_next();
    renew();
    cr_expect_eq(permit->queue, queue);
    expect_waits(permit, 2, NULL);
}

Test(move, a_limit_that_joins_takes_the_tenant_of_the_work)
{
    const takt_level levels[] = {
        {.limit = &inner, .key = "ann", .tenant = "acme", .weight = 3, .cost = 1}};
    takt_permit *permit;

    inner.within = NULL;
    inner.fair = outer.fair = between.fair = TAKT_FAIR_TENANT;
    permit = wait_in(levels, 1);
    begin_next();
    renew();
    expect_waits(permit, 3, NULL);
    cr_expect_str_eq(permit->queue->turn->tenant, "acme");
}

/* The limits that enforce now have not given its slot. */
Test(move, work_moves_whose_callback_is_due_if_a_limit_joins)
{
    takt_permit *due = wait_alone();

    takt_waiter_fire(&r.s, due, 0);
    begin_next();
    renew();
    expect_waits(due, 3, NULL);
    cr_expect_null(takt_scheduler_next_fired(&r.s));
}

Test(move, work_goes_on_whose_callback_is_due_if_a_limit_leaves_or_joins_in_shadow)
{
    takt_permit *due = wait_for(NULL), *alone;

    takt_waiter_fire(&r.s, due, 0);
    begin_next();
    remove_between();
    renew();
    cr_expect_eq(takt_scheduler_next_fired(&r.s), due);
    takt_waiter_release(&r.s, due);
    alone = wait_alone();
    takt_waiter_fire(&r.s, alone, 0);
    begin_next();
    between_2.mode = outer_2.mode = TAKT_MODE_SHADOW;
    is_gone = false;
    renew();
    cr_expect_eq(takt_scheduler_next_fired(&r.s), alone);
    takt_waiter_release(&r.s, alone);
}
