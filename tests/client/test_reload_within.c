/*
 * A new policy puts other limits around those that work waits for: the work waits for them as well,
 * with the keys that it has, and no longer for those that are not around its own now.
 */
#include "client/calls.h"
#include "client/reloads.h"

static int64_t left_of(const char *limit)
{
    takt_call call = {0};

    run_call(takt_peek(client, &call, limit, NULL, note_call));
    cr_assert_eq(last.status, 0);
    return last.standing.remaining;
}

static takt_request with_cost(const char *limit, int32_t cost)
{
    takt_request request = TAKT_REQUEST(limit);

    request.cost = cost;
    return request;
}

/* Takes all tokens of "in", so that what comes then waits. */
static void use_up(seen *job, int32_t cost)
{
    cr_assert_eq(acquire(job, with_cost("in", cost)), 0);
    run_until(1);
    cr_assert_eq(job->status, 0);
    takt_release(&job->permit);
}

Test(reload_within, waiting_work_waits_for_the_limit_around_its_own_now)
{
    static seen first, job, large, later;

    begin("limits:\n  - {name: in, rules: [{rate: 10/s, burst: 5}], within: out}\n"
          "  - {name: out, rules: [{rate: 1/h, burst: 5}]}\n");
    use_up(&first, 5);
    cr_assert_eq(acquire(&job, TAKT_REQUEST("in")), 0);
    cr_assert_eq(acquire(&large, with_cost("in", 5)), 0);
    reload("revision: 1\nlimits:\n  - {name: in, rules: [{rate: 10/s, burst: 5}], within: other}\n"
           "  - {name: out, rules: [{rate: 1/h, burst: 5}]}\n"
           "  - {name: other, rules: [{rate: 1/h, burst: 3}]}\n");
    cr_assert_eq(acquire(&later, with_cost("in", 4)), TAKT_E_COST);
    run_until(3);
    cr_expect_eq(job.status, 0, "it no longer waits for an hour");
    cr_expect_eq(large.status, TAKT_E_COST, "more than the one around can ever give");
    cr_expect_eq(large.permit.slot_at_us, 0);
    cr_expect_eq(left_of("other"), 2);
    cr_expect_eq(left_of("out"), 0);
    takt_release(&job.permit);
    end();
}

Test(reload_within, waiting_work_of_one_limit_waits_for_two)
{
    static seen first, jobs[3];
    takt_request soon = TAKT_REQUEST("in");

    soon.max_wait_us = 3000000;
    begin("limits:\n  - {name: in, rules: [{rate: 1/h, burst: 5}]}\n");
    use_up(&first, 5);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(acquire(&jobs[i], soon), 0);
    reload("revision: 1\nlimits:\n  - {name: in, rules: [{rate: 1000/s, burst: 5}], within: out}\n"
           "  - {name: out, rules: [{rate: 1/h, burst: 2}]}\n");
    run_until(4);
    cr_expect_eq(jobs[0].status, 0);
    cr_expect_eq(jobs[1].status, 0);
    cr_expect_eq(jobs[2].status, TAKT_E_DEADLINE);
    cr_expect_eq(left_of("out"), 0);
    takt_release(&jobs[0].permit);
    takt_release(&jobs[1].permit);
    end();
}

/* It keeps none for a level of which it named no key. */
Test(reload_within, waiting_work_keeps_its_keys)
{
    static seen first, job;
    takt_request request = TAKT_REQUEST("in");
    takt_call call = {0};

    begin("limits:\n  - {name: in, rules: [{rate: 1/h}], within: out}\n"
          "  - {name: out, rules: [{rate: 9/h, burst: 9}]}\n");
    request.within_keys[0] = "eu";
    cr_assert_eq(acquire(&first, request), 0);
    cr_assert_eq(acquire(&job, request), 0);
    run_until(1);
    reload("revision: 1\nlimits:\n"
           "  - {name: in, rules: [{rate: 1000/s}], within: between}\n"
           "  - {name: between, rules: [{rate: 9/h, burst: 9}], within: out, key_hash: true}\n"
           "  - {name: out, rules: [{rate: 9/h, burst: 9}]}\n");
    run_until(2);
    cr_expect_eq(job.status, 0);
    cr_expect_eq(left_of("between"), 8);
    cr_expect_eq(left_of("out"), 9);
    run_call(takt_peek(client, &call, "out", "eu", note_call));
    cr_expect_eq(last.standing.remaining, 7);
    takt_release(&first.permit);
    takt_release(&job.permit);
    end();
}

/* What it has stated of a unit, also at a limit that is around it no longer; else the default. */
Test(reload_within, waiting_work_takes_its_amounts)
{
    static seen first, job;
    takt_request request = TAKT_REQUEST("in");

    begin("limits:\n"
          "  - {name: in, rules: [{rate: 1/h, counts: requests}], within: old}\n"
          "  - {name: old, rules: [{rate: 999/h, burst: 999, counts: tokens}]}\n");
    request.amounts[0] = (takt_amount){"tokens", 300};
    cr_assert_eq(acquire(&first, request), 0);
    cr_assert_eq(acquire(&job, request), 0);
    run_until(1);
    reload("revision: 1\nlimits:\n"
           "  - {name: in, rules: [{rate: 1000/s, counts: requests}], within: out}\n"
           "  - {name: out, within: more, rules: [{rate: 900/h, burst: 900, counts: tokens},\n"
           "      {rate: 50/h, burst: 50, counts: images, default_amount: 7}]}\n"
           "  - {name: more, rules: [{rate: 9/h, burst: 9, counts: pages}]}\n");
    run_until(2);
    cr_expect_eq(job.status, 0);
    run_call(takt_peek(client, &(takt_call){0}, "out", NULL, note_call));
    cr_expect_eq(last.standing.rules[0].remaining, 600);
    cr_expect_eq(last.standing.rules[1].remaining, 43);
    cr_expect_eq(left_of("more"), 8, "it states none of that unit, and takes 1");
    takt_release(&first.permit);
    takt_release(&job.permit);
    end();
}

static takt_tenant_standing tenant;

static void note_tenant(takt_call *call, int status, const takt_standing *standing)
{
    if (standing && standing->tenant_count > 0)
        tenant = standing->tenants[0];
    note_call(call, status, standing);
}

/* With `fair: key` the key of the limit inside is the tenant. */
Test(reload_within, waiting_work_has_the_tenant_of_its_key)
{
    static seen first, jobs[2];
    takt_request request = TAKT_REQUEST("in");
    takt_call call = {0};

    begin("limits:\n  - {name: in, rules: [{rate: 1/h}]}\n");
    request.key = "acme";
    cr_assert_eq(acquire(&first, request), 0);
    run_until(1);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(acquire(&jobs[i], request), 0);
    reload("revision: 1\nlimits:\n  - {name: in, rules: [{rate: 1000/s}], within: out}\n"
           "  - {name: out, rules: [{rate: 1/h}], fair: key, weights: {acme: 3}}\n");
    run_until(2);
    cr_expect_eq(jobs[0].status, 0);
    run_call(takt_peek(client, &call, "out", NULL, note_tenant));
    cr_expect_str_eq(tenant.name, "acme");
    cr_expect_eq(tenant.weight, 3);
    takt_release(&first.permit);
    takt_release(&jobs[0].permit);
    takt_cancel(&jobs[1].permit);
    run_until(3);
    end();
}
