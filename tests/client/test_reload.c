/*
 * takt_reload: another policy for a client at work: waiters continue under the new numbers, and
 * under the old ones if their limit is gone.
 */
#include "client/client.h"

#include "client/calls.h"
#include "client/reloads.h"

#define MAIL(rate) "  - {name: mail, rules: [{rate: " rate "}]}\n"
#define OLD        "  - {name: old, rules: [{rate: 50/s}]}\n"

/* Waits an hour under the old numbers, and a moment under the new ones, which are of a higher
 * revision. */
Test(reload, who_waits_goes_on_under_the_new_numbers)
{
    static seen jobs[3];

    begin("limits:\n" MAIL("1/h"));
    for (int i = 0; i < 3; i++)
        cr_assert_eq(acquire(&jobs[i], TAKT_REQUEST("mail")), 0);
    run_until(1);
    reload("revision: 1\nlimits:\n" MAIL("100/s"));
    run_until(3);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(jobs[i].status, 0);
        takt_release(&jobs[i].permit);
    }
    end();
}

Test(reload, limits_come_and_go)
{
    static seen waiting[3], late, fresh;

    begin("limits:\n" OLD MAIL("50/s"));
    for (int i = 0; i < 3; i++)
        cr_assert_eq(acquire(&waiting[i], TAKT_REQUEST("old")), 0);
    run_until(1);
    cr_assert_eq(acquire(&late, TAKT_REQUEST("api")), TAKT_E_NO_LIMIT);
    reload("limits:\n  - {name: api, rules: [{rate: 50/s}]}\n");
    cr_expect_eq(acquire(&late, TAKT_REQUEST("old")), TAKT_E_NO_LIMIT, "new ones are refused");
    cr_expect_eq(acquire(&late, TAKT_REQUEST("mail")), TAKT_E_NO_LIMIT);
    cr_assert_eq(acquire(&fresh, TAKT_REQUEST("api")), 0);
    run_until(4);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(waiting[i].status, 0, "who waited is served");
    cr_expect_eq(fresh.status, 0);
    cr_expect_eq(acquire(&late, TAKT_REQUEST("old")), TAKT_E_NO_LIMIT, "still");
    end();
}

Test(reload, a_cost_that_can_never_be_given_any_more)
{
    static seen first, large, small;
    takt_request request = TAKT_REQUEST("mail");

    begin("limits:\n  - {name: mail, rules: [{rate: 1/h, burst: 10}]}\n");
    request.cost = 10;
    cr_assert_eq(acquire(&first, request), 0);
    run_until(1);
    cr_assert_eq(acquire(&large, request), 0);
    cr_assert_eq(acquire(&small, TAKT_REQUEST("mail")), 0);
    reload("revision: 1\nlimits:\n  - {name: mail, rules: [{rate: 1/h, burst: 5}]}\n");
    run_until(2);
    cr_expect_eq(large.status, TAKT_E_COST);
    cr_expect_eq(small.calls, 0, "waits on");
    cr_expect_eq(acquire(&large, request), TAKT_E_COST, "it is the new numbers that are asked");
    end();
    cr_expect_eq(small.status, TAKT_E_CANCELED);
}

/* Waiters that an award has accepted are no newcomers to the bound. */
Test(reload, a_bound_refuses_only_who_comes_later)
{
    static seen jobs[5];

    begin("limits:\n" MAIL("1/h"));
    for (int i = 0; i < 4; i++)
        cr_assert_eq(acquire(&jobs[i], TAKT_REQUEST("mail")), 0);
    run_until(1);
    reload("revision: 1\nlimits:\n  - {name: mail, rules: [{rate: 1/h}], max_waiting: 2}\n");
    cr_assert_eq(acquire(&jobs[4], TAKT_REQUEST("mail")), 0);
    run_until(2);
    cr_expect_eq(jobs[4].status, TAKT_E_FULL, "%d", jobs[4].status);
    for (int i = 0; i < 4; i++)
        takt_release(&jobs[i].permit);
    end();
}

Test(reload, permits_go_on)
{
    static seen jobs[3];

    begin("limits:\n  - {name: a, concurrency: 1}\n");
    for (int i = 0; i < 3; i++)
        cr_assert_eq(acquire(&jobs[i], TAKT_REQUEST("a")), 0);
    run_until(1);
    cr_expect(takt_is_held(&jobs[0].permit));
    reload("revision: 1\nlimits:\n  - {name: a, concurrency: 2}\n");
    run_until(2);
    cr_expect_eq(jobs[1].status, 0, "a second one is free now");
    cr_expect_eq(jobs[2].calls, 0);
    cr_expect(takt_is_held(&jobs[0].permit));
    takt_release(&jobs[0].permit);
    run_until(3);
    takt_release(&jobs[1].permit);
    takt_release(&jobs[2].permit);
    end();
}

/* With a lower revision the ledger's numbers stay valid, as the next award says. */
Test(reload, the_higher_revision_holds)
{
    static seen jobs[3];

    begin("revision: 5\nlimits:\n" MAIL("100/s"));
    cr_assert_eq(acquire(&jobs[0], TAKT_REQUEST("mail")), 0);
    run_until(1);
    reload("revision: 4\nlimits:\n" MAIL("1/h"));
    cr_assert_eq(acquire(&jobs[1], TAKT_REQUEST("mail")), 0);
    cr_assert_eq(acquire(&jobs[2], TAKT_REQUEST("mail")), 0);
    run_until(3);
    end();
}

/* With the same revision the ledger's rules stay valid while a worker states them: one event. */
Test(reload, of_one_revision_the_first_holds)
{
    static seen jobs[4];

    begin("limits:\n" MAIL("2/h") "  - {name: other, rules: [{rate: 5/s}]}\n");
    cr_assert_eq(acquire(&jobs[0], TAKT_REQUEST("mail")), 0);
    run_until(1);
    reload("limits:\n" MAIL("1/min") "  - {name: other, rules: [{rate: 5/s}]}\n");
    cr_expect_eq(events_seen & 1 << TAKT_EVENT_POLICY_DIFFERS, 0);
    cr_assert_eq(
        acquire(&jobs[1], (takt_request){.limit = "mail", .cost = 1, .max_wait_us = 60000000}), 0);
    while (!(events_seen & 1 << TAKT_EVENT_POLICY_DIFFERS))
        uv_run(&loop, UV_RUN_ONCE);
    run_until(2);
    cr_expect_eq(jobs[1].status, TAKT_E_DEADLINE);
    events_seen = 0;
    cr_assert_eq(
        acquire(&jobs[2], (takt_request){.limit = "mail", .cost = 1, .max_wait_us = 60000000}), 0);
    cr_assert_eq(acquire(&jobs[3], TAKT_REQUEST("other")), 0);
    run_until(4);
    cr_expect_eq(events_seen, 0, "that is told once");
    end();
}

/* The event names the level whose rules differ. */
Test(reload, of_one_revision_the_first_holds_inside_as_well)
{
    static seen jobs[2];

    begin("limits:\n  - {name: in, rules: [{rate: 2/h}], within: out}\n"
          "  - {name: out, rules: [{rate: 5/s, burst: 5}]}\n");
    cr_assert_eq(acquire(&jobs[0], TAKT_REQUEST("in")), 0);
    run_until(1);
    reload("limits:\n  - {name: in, rules: [{rate: 1/min}], within: out}\n"
           "  - {name: out, rules: [{rate: 5/s, burst: 5}]}\n");
    cr_assert_eq(
        acquire(&jobs[1], (takt_request){.limit = "in", .cost = 1, .max_wait_us = 60000000}), 0);
    while (!(events_seen & 1 << TAKT_EVENT_POLICY_DIFFERS))
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(strstr(event_text, "limit \"in\": 1/min"), "%s", event_text);
    run_until(2);
    cr_expect_eq(jobs[1].status, TAKT_E_DEADLINE);
    end();
}

Test(reload, what_is_refused)
{
    takt_policy *follower = parse("policy: store\n");
    takt_error error = {0};

    open_client();
    cr_expect_eq(takt_reload(client, follower, &error), TAKT_E_INVALID);
    cr_expect_not_null(strstr(error.text, "takt_open"));
    cr_expect_eq(takt_reload(client, NULL, NULL), TAKT_E_INVALID);
    cr_expect_eq(takt_get_policy(client), policy);
    takt_close(client, NULL, NULL);
    cr_expect_eq(takt_reload(client, policy, &error), TAKT_E_CANCELED);
    end();
    takt_policy_free(follower);
}

static int64_t remaining_of(const char *limit)
{
    takt_call call = {0};

    run_call(takt_peek(client, &call, limit, NULL, note_call));
    return last.standing.remaining;
}

/* Work that runs has its slot from the limits that there were.  "all" gave another one. */
Test(reload, what_runs_gives_back_to_the_limit_that_gave_it)
{
    static seen before, after;
    takt_request request = TAKT_REQUEST("mail");

    begin("limits:\n  - {name: mail, rules: [{rate: 1/h, burst: 10}]}\n");
    request.cost = 4;
    cr_assert_eq(acquire(&before, request), 0);
    run_until(1);
    reload("revision: 1\nlimits:\n  - {name: mail, rules: [{rate: 1/h, burst: 10}], within: all}\n"
           "  - {name: all, rules: [{rate: 10/day, algorithm: fixed-window}]}\n");
    request.cost = 3;
    cr_assert_eq(acquire(&after, request), 0);
    run_until(2);
    cr_assert_eq(remaining_of("mail"), 3);
    cr_assert_eq(remaining_of("all"), 7);
    request.cost = 4;
    cr_assert_eq(takt_settle(&before.permit, &request, TAKT_USED(1)), 0);
    cr_expect_eq(remaining_of("mail"), 6);
    cr_expect_eq(remaining_of("all"), 7, "it had given nothing");
    takt_release(&before.permit);
    takt_release(&after.permit);
    end();
}
