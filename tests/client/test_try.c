/*
 * takt_try_acquire: now or never, from all levels or none.
 */
#include "client/calls.h"

#include "scheduler/queue.h"

TestSuite(try, .init = open_client, .fini = close_client);

Test(try, try_takes_now_or_nothing)
{
    takt_call call = {0};
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("hourly");

    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, 0);
    cr_assert_eq(last.standing.limit, 1);
    cr_assert_eq(last.standing.remaining, 0);
    cr_assert_eq(last.standing.reset_after_us, INT64_C(3600000000));
    cr_assert_eq(takt_try_acquire(client, &call, &permit, &request, note_call), TAKT_E_BUSY);
    takt_release(&permit);
    for (int i = 0; i < 3; i++) {
        run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
        cr_assert_eq(last.status, TAKT_E_NO_SLOT);
        cr_assert(last.answered);
        cr_assert_gt(last.standing.retry_after_us, INT64_C(3590000000));
        cr_assert_leq(last.standing.retry_after_us, INT64_C(3600000000), "refusals are free");
        cr_assert_eq(permit.retry_after_us, last.standing.retry_after_us);
    }
}

Test(try, try_does_not_overtake_those_who_wait)
{
    takt_call call = {0};
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("hourly");
    static seen jobs[2];

    cr_assert_eq(acquire(&jobs[0], request), 0);
    cr_assert_eq(acquire(&jobs[1], request), 0);
    run_until(1);
    run_call(takt_reset(client, &call, "hourly", NULL, note_call));
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, TAKT_E_NO_SLOT);
    run_until(2);
    cr_assert_eq(jobs[1].status, 0, "the waiter heard of the reset and took the token");
}

Test(try, try_within_takes_from_all_or_none)
{
    takt_call call = {0};
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("inner");

    request.cost = 2;
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, 0);
    takt_release(&permit);
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, TAKT_E_NO_SLOT, "the outer limit has none left");
    cr_assert_gt(last.standing.retry_after_us, INT64_C(7190000000), "nor two within two hours");
    run_call(takt_peek(client, &call, "inner", NULL, note_call));
    cr_assert_geq(last.standing.remaining, 3, "the inner limit was not charged for the refusal");
}

/* The answer names the limit that would refuse next. */
Test(try, try_within_tells_of_the_limit_that_leaves_least)
{
    static const struct {
        const char *limit;
        int status;
        int64_t tokens, remaining; /* that can be taken at one instant; that are left */
    } tries[] = {{"narrow", 0, 2, 1}, {"narrow", 0, 2, 0}, {"narrow", TAKT_E_NO_SLOT, 2, 0},
                 {"inner", 0, 2, 1},  {"inner", 0, 2, 0},  {"inner", TAKT_E_NO_SLOT, 2, 0}};
    takt_call call = {0};
    takt_permit permit = {0};

    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        takt_request request = TAKT_REQUEST(tries[i].limit);
        run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
        cr_assert_eq(last.status, tries[i].status, "try %zu", i);
        cr_assert_eq(last.standing.limit, tries[i].tokens, "try %zu", i);
        cr_assert_eq(last.standing.remaining, tries[i].remaining, "try %zu", i);
        takt_release(&permit);
    }
}

static void note_unexpected(takt_permit *permit, int status)
{
    (void)permit;
    (void)status;
    cr_assert_fail("it was never accepted");
}

Test(try, a_permit_that_a_try_is_under_way_for_is_busy)
{
    takt_call call = {0}, other = {0};
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("pair");

    cr_assert_eq(takt_try_acquire(client, &call, &permit, &request, note_call), 0);
    cr_assert_eq(takt_try_acquire(client, &other, &permit, &request, note_call), TAKT_E_BUSY);
    cr_assert_eq(takt_acquire(client, &permit, &request, note_unexpected), TAKT_E_BUSY);
    cr_assert_eq(takt_cancel(&permit), TAKT_E_INVALID);
    cr_assert_eq(takt_settle(&permit, &request, NULL, 0), TAKT_E_INVALID);
    takt_release(&permit);
    cr_assert_not(takt_is_held(&permit));
    run_call(0);
    cr_assert_eq(last.status, 0);
    cr_assert(takt_is_held(&permit), "whoever releases it too soon releases nothing");
    takt_release(&permit);
    cr_assert_eq(
        takt_try_acquire(client, &call, &permit, &(takt_request){.limit = "none"}, note_call),
        TAKT_E_INVALID);
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, 0, "nor is one that was not accepted");
}

/* A callback must not begin a call of a client that is about to close. */
Test(try, close_grants_no_try)
{
    takt_call call = {0};
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("pair");

    cr_assert_eq(takt_try_acquire(client, &call, &permit, &request, note_call), 0);
    takt_close(client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(last.calls, 1);
    cr_assert_eq(last.status, TAKT_E_CANCELED);
    cr_assert_not(takt_is_held(&permit));
    takt_policy_free(policy);
    uv_loop_close(&loop);
    open_client();
}

/* Its permit is given back by the closing, so the try has lost it; but nobody else has taken it. */
Test(try, a_try_that_a_close_ends_is_cancelled_and_not_late)
{
    static const char text[] = "limits:\n"
                               "  - {name: room, concurrency: 1, within: house}\n"
                               "  - {name: house, mode: shadow, rules: [{rate: 1/h}]}\n";
    takt_options options = {.store = "memory:"};
    takt_call call = {0};
    takt_permit permit = {0};
    takt_policy *rooms;
    takt_client *closing;
    takt_stats stats = {0};

    cr_assert_eq(takt_policy_parse(&rooms, "p", text, sizeof text - 1, NULL), 0);
    cr_assert_eq(takt_open(&closing, &loop, rooms, &options, NULL), 0);
    cr_assert_eq(takt_try_acquire(closing, &call, &permit, &TAKT_REQUEST("room"), note_call), 0);
    while (stats.store_answers == 0) {
        uv_run(&loop, UV_RUN_ONCE);
        takt_get_stats(closing, &stats);
    }
    cr_assert_eq(permit.hold, TAKT_HOLD_HELD, "the room is granted, and the house is asked");
    cr_assert_eq(last.calls, 0);
    takt_close(closing, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(last.calls, 1);
    cr_expect_eq(last.status, TAKT_E_CANCELED);
    cr_expect_not(takt_is_held(&permit));
    takt_policy_free(rooms);
}
