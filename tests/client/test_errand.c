/*
 * try, peek, block, unblock and reset through the public interface.
 */
#include "client/client_test.h"

TestSuite(errand, .init = open_client, .fini = close_client);

static struct {
    int calls;
    int status;
    bool answered;
    takt_standing standing;
} last;

static void note_call(takt_call *call, int status, const takt_standing *standing)
{
    (void)call;
    last.calls++;
    last.status = status;
    last.answered = standing != NULL;
    if (standing)
        last.standing = *standing;
}

static void run_call(int code)
{
    int before = last.calls;

    cr_assert_eq(code, 0);
    cr_assert_eq(last.calls, before, "never inside the call");
    while (last.calls == before)
        uv_run(&loop, UV_RUN_ONCE);
}

Test(errand, try_takes_now_or_nothing)
{
    takt_call call = {0};
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("hourly");

    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, 0);
    cr_assert_eq(last.standing.limit, 1);
    cr_assert_eq(last.standing.remaining, 0);
    cr_assert_eq(last.standing.reset_after_us, INT64_C(3600000000));
    for (int i = 0; i < 3; i++) {
        run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
        cr_assert_eq(last.status, TAKT_E_NO_SLOT);
        cr_assert(last.answered);
        cr_assert_gt(last.standing.retry_after_us, INT64_C(3590000000));
        cr_assert_leq(last.standing.retry_after_us, INT64_C(3600000000), "refusals are free");
    }
}

Test(errand, try_does_not_overtake_those_who_wait)
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

Test(errand, try_within_takes_from_all_or_none)
{
    takt_call call = {0};
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("inner");

    request.cost = 2;
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, 0);
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, TAKT_E_NO_SLOT, "the outer limit has none left");
    cr_assert_gt(last.standing.retry_after_us, INT64_C(7190000000), "nor two within two hours");
    run_call(takt_peek(client, &call, "inner", NULL, note_call));
    cr_assert_geq(last.standing.remaining, 3, "the inner limit was not charged for the refusal");
}

Test(errand, peek_changes_nothing)
{
    takt_call call = {0};

    for (int i = 0; i < 3; i++) {
        run_call(takt_peek(client, &call, "hourly", "k", note_call));
        cr_assert_eq(last.status, 0);
        cr_assert_eq(last.standing.remaining, 1);
        cr_assert_eq(last.standing.retry_after_us, 0);
        cr_assert_eq(last.standing.reset_after_us, 0);
        cr_assert_eq(last.standing.waiting, 0);
    }
}

Test(errand, block_holds_everybody_and_unblock_lets_go)
{
    takt_call call = {0};
    static seen job;

    run_call(takt_block(client, &call, "fast", NULL, INT64_C(3600000000), note_call));
    cr_assert_gt(last.standing.blocked_until_us, last.standing.now_us);
    run_call(takt_block(client, &call, "fast", NULL, 1000, note_call));
    cr_assert_gt(last.standing.blocked_until_us, last.standing.now_us + INT64_C(3000000000),
                 "only ever extends");
    cr_assert_eq(acquire(&job, TAKT_REQUEST("fast")), 0);
    run_call(takt_peek(client, &call, "fast", NULL, note_call));
    cr_assert_eq(job.calls, 0);
    cr_assert_eq(last.standing.remaining, 0);
    run_call(takt_unblock(client, &call, "fast", NULL, note_call));
    cr_assert_eq(last.standing.blocked_until_us, 0);
    run_until(1);
    cr_assert_eq(job.status, 0);
}

Test(errand, bad_calls_are_refused)
{
    takt_call call = {0};
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("free");

    cr_assert_eq(takt_peek(client, &call, "unknown", NULL, note_call), TAKT_E_NO_LIMIT);
    cr_assert_eq(takt_peek(client, &call, NULL, NULL, note_call), TAKT_E_INVALID);
    cr_assert_eq(takt_block(client, &call, "free", NULL, -1, note_call), TAKT_E_INVALID);
    cr_assert_eq(takt_try_acquire(client, &call, &permit, NULL, note_call), TAKT_E_INVALID);
    cr_assert_eq(takt_try_acquire(client, &call, &permit, &request, NULL), TAKT_E_INVALID);
    request.cost = 0;
    cr_assert_eq(takt_try_acquire(client, &call, &permit, &request, note_call), TAKT_E_INVALID);
    cr_assert_eq(last.calls, 0);
}

Test(errand, a_call_under_way_is_busy)
{
    takt_call call = {0};

    cr_assert_eq(takt_peek(client, &call, "free", NULL, note_call), 0);
    cr_assert_eq(takt_peek(client, &call, "free", NULL, note_call), TAKT_E_BUSY);
    while (last.calls == 0)
        uv_run(&loop, UV_RUN_ONCE);
    run_call(takt_peek(client, &call, "free", NULL, note_call));
}

Test(errand, close_answers_calls_under_way)
{
    takt_call call = {0};

    cr_assert_eq(takt_peek(client, &call, "free", NULL, note_call), 0);
    takt_close(client, NULL, NULL);
    cr_assert_eq(takt_peek(client, &call, "free", NULL, note_call), TAKT_E_CANCELED);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(last.calls, 1);
    takt_policy_free(policy);
    uv_loop_close(&loop);
    open_client();
}

/* What was not used can be used by another, and what was used beyond is paid for. */
Test(errand, settle)
{
    takt_call call = {0};
    takt_request request = TAKT_REQUEST("pair");
    takt_permit permit = {0};

    request.cost = 2;
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, 0);
    cr_assert_eq(last.standing.remaining, 0);
    cr_assert_eq(takt_settle(&permit, &request, 1), 0);
    cr_assert_eq(takt_settle(&permit, &request, 1), TAKT_E_INVALID, "once");
    takt_release(&permit);
    run_call(takt_peek(client, &call, "pair", NULL, note_call));
    cr_assert_eq(last.standing.remaining, 1);
    request.cost = 1;
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, 0);
    takt_release(&permit);
    run_call(takt_unblock(client, &call, "pair", NULL, note_call));
    run_call(takt_reset(client, &call, "pair", NULL, note_call));
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.standing.remaining, 1);
    cr_assert_eq(takt_settle(&permit, &request, 2), 0);
    run_call(takt_peek(client, &call, "pair", NULL, note_call));
    cr_assert_eq(last.standing.remaining, 0);
    cr_assert_eq(takt_settle(NULL, &request, 2), TAKT_E_INVALID);
    cr_assert_eq(takt_settle(&permit, NULL, 2), TAKT_E_INVALID);
}
