/*
 * Work that waits while a policy changes the modes of its limits: where it waits afterwards, and
 * what stays where it is.
 */
#include "scheduler/path.h"
#include "scheduler/registry.h"
#include "scheduler/renew.h"
#include "scheduler/rigs.h"

static rig r;
static takt_limit outer, between, inner;       /* of the first policy */
static takt_limit outer_2, between_2, inner_2; /* of the next one */
static takt_limit inner_3;                     /* of one without the limit between */
static bool is_gone;                           /* that policy is the next one */
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
    is_gone = false;
    cost = 1;
    inner_3.name[0] = '\0';
}

static void tear_down(void)
{
    close_rig(&r);
}

TestSuite(move, .init = set_up, .fini = tear_down);

static const takt_limit *find(const void *data, const takt_limit *limit, const char *key)
{
    (void)data;
    (void)key;
    if (strcmp(limit->name, "between") == 0)
        return is_gone ? NULL : &between_2;
    if (strcmp(limit->name, "outer") == 0)
        return &outer_2;
    return is_gone && inner_3.name[0] ? &inner_3 : &inner_2;
}

static int32_t weigh(const void *data, const takt_limit *limit, const char *tenant, int32_t weight)
{
    (void)data;
    (void)tenant;
    return limit->fair == TAKT_FAIR_WORKER ? 1 : weight;
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

static void renew(void)
{
    takt_renew_policy(&r.s, find, weigh, NULL);
}

static takt_permit *wait_for(const char *tenant)
{
    takt_permit *permit = &r.permits[r.permit_count++];
    const takt_level levels[] = {
        {.limit = &inner, .key = "ann", .weight = 1, .cost = cost},
        {.limit = &between, .key = "a", .weight = 1, .cost = cost},
        {.limit = &outer, .key = "", .tenant = tenant, .weight = 3, .cost = cost}};
    takt_path path;

    *permit = (takt_permit){.priority = 5, .deadline_at_us = TAKT_NEVER};
    cr_assert_eq(takt_path_find(&r.s, levels, 3, true, &path), 0);
    takt_path_enter(&r.s, permit, &path);
    return permit;
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

/* Its levels have limits of two policies: in the second one the inner limit is directly within the
 * outer one. */
Test(move, levels_keep_their_order_after_a_policy_without_one_of_them)
{
    takt_permit *permit;

    inner.mode = outer.mode = TAKT_MODE_SHADOW;
    between.mode = TAKT_MODE_ENFORCE;
    permit = wait_for(NULL);
    expect_waits(permit, 1, "outer");
    begin_next();
    inner_3 = inner;
    inner_3.within = &outer_2;
    is_gone = true;
    renew();
    expect_waits(permit, 1, "outer");
    is_gone = false;
    inner_2.mode = outer_2.mode = TAKT_MODE_ENFORCE;
    renew();
    expect_waits(permit, 3, NULL);
    cr_expect_str_eq(permit->queue->nest->inner[0].limit->name, "inner");
    cr_expect_str_eq(permit->queue->nest->inner[1].limit->name, "between");
    cr_expect_str_eq(permit->queue->limit->name, "outer");
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

Test(move, a_limit_that_is_gone_stays_what_it_was)
{
    takt_permit *permit = wait_for(NULL);

    begin_next();
    is_gone = true;
    inner_2.mode = TAKT_MODE_SHADOW;
    renew();
    expect_waits(permit, 1, "between");
    cr_expect_eq(permit->shadow_queue->nest->inner[0].limit, &inner_2);
    cr_expect_eq(permit->shadow_queue->limit, &between);
}

/* The limit between has tenants now and is the outermost one elsewhere: no claim states these. */
Test(move, work_stays_if_no_claim_can_decide_about_its_levels)
{
    takt_permit *permit = wait_for(NULL);
    const takt_queue *queue = permit->queue;

    begin_next();
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

/* No policy renews the queue, because one of its limits is gone. */
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
    is_gone = true;
    renew();
    cr_expect_eq(takt_scheduler_next_fired(&r.s), permit);
    cr_expect_eq(permit->status, TAKT_E_COST);
}
