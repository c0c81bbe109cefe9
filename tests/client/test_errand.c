/*
 * try, peek, watch, block, unblock and reset through the public interface.
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
    takt_release(&permit);
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, TAKT_E_NO_SLOT, "the outer limit has none left");
    cr_assert_gt(last.standing.retry_after_us, INT64_C(7190000000), "nor two within two hours");
    run_call(takt_peek(client, &call, "inner", NULL, note_call));
    cr_assert_geq(last.standing.remaining, 3, "the inner limit was not charged for the refusal");
}

/* What is told is what will be the next to refuse, whichever limit that is. */
Test(errand, try_within_tells_of_the_limit_that_leaves_least)
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

Test(errand, watch_counts_what_is_taken)
{
    takt_call call = {0};
    static seen jobs[3];

    run_call(takt_watch(client, &call, "free", NULL, TAKT_WATCH_MAX_US, note_call));
    cr_assert_eq(last.status, 0);
    cr_assert_eq(last.standing.watched_since_us, last.standing.now_us);
    cr_assert_eq(last.standing.taken, 0);
    for (int i = 0; i < 3; i++) {
        takt_request request = TAKT_REQUEST("free");
        request.cost = 10;
        cr_assert_eq(acquire(&jobs[i], request), 0);
    }
    run_until(3);
    run_call(takt_watch(client, &call, "free", NULL, 1, note_call));
    cr_assert_eq(last.standing.taken, 30);
    run_call(takt_peek(client, &call, "free", "k", note_call));
    cr_assert_eq(last.standing.watched_since_us, 0, "another ledger");
    cr_assert_eq(takt_watch(client, &call, "free", NULL, 0, note_call), TAKT_E_INVALID);
    cr_assert_eq(takt_watch(client, &call, "free", NULL, TAKT_WATCH_MAX_US + 1, note_call),
                 TAKT_E_INVALID);
    cr_assert_eq(takt_watch(client, &call, "unknown", NULL, 1, note_call), TAKT_E_NO_LIMIT);
}

Test(errand, block_holds_everybody_and_unblock_lets_go)
{
    takt_call call = {0};
    static seen job;

    run_call(takt_block(client, &call, "fast", NULL, INT64_C(3600000000), NULL, note_call));
    cr_assert_gt(last.standing.blocked_until_us, last.standing.now_us);
    run_call(takt_block(client, &call, "fast", NULL, 1000, NULL, note_call));
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
    cr_assert_eq(takt_block(client, &call, "free", NULL, -1, NULL, note_call), TAKT_E_INVALID);
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

static void note_unexpected(takt_permit *permit, int status)
{
    (void)permit;
    (void)status;
    cr_assert_fail("it was never accepted");
}

Test(errand, a_permit_that_a_try_is_under_way_for_is_busy)
{
    takt_call call = {0}, other = {0};
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("pair");

    cr_assert_eq(takt_try_acquire(client, &call, &permit, &request, note_call), 0);
    cr_assert_eq(takt_try_acquire(client, &other, &permit, &request, note_call), TAKT_E_BUSY);
    cr_assert_eq(takt_acquire(client, &permit, &request, note_unexpected), TAKT_E_BUSY);
    cr_assert_eq(takt_cancel(&permit), TAKT_E_INVALID);
    cr_assert_eq(takt_settle(&permit, &request, 0), TAKT_E_INVALID);
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

/* Nobody is to begin something with a client that is gone in a moment. */
Test(errand, close_grants_no_try)
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

static void settle_nothing(takt_permit *permit, int status)
{
    takt_request request = TAKT_REQUEST("inner");

    note(permit, status);
    cr_assert_eq(takt_settle(permit, &request, 0), TAKT_E_INVALID, "it was never granted");
    cr_assert_eq(permit->slot_at_us, 0);
}

/* Work that the inner limit let pass and the outer one did not has taken nothing of the outer one
 * that could be given back. */
Test(errand, who_was_refused_has_nothing_to_settle)
{
    takt_call call = {0};
    takt_permit taken = {0};
    takt_request request = TAKT_REQUEST("inner");
    static seen job;

    request.cost = 2;
    run_call(takt_try_acquire(client, &call, &taken, &request, note_call));
    cr_assert_eq(last.status, 0);
    request.max_wait_us = 50000;
    job.permit.data = &job;
    cr_assert_eq(takt_acquire(client, &job.permit, &request, settle_nothing), 0);
    run_until(1);
    cr_assert_eq(job.status, TAKT_E_DEADLINE);
    request.max_wait_us = 0;
    cr_assert_eq(takt_acquire(client, &job.permit, &request, settle_nothing), 0);
    while (job.permit.slot_at_us == 0) /* the inner one's */
        uv_run(&loop, UV_RUN_ONCE);
    takt_release(&job.permit);
    cr_assert_eq(takt_settle(&job.permit, &request, 0), TAKT_E_INVALID, "it was given up");
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
Test(errand, lower)
{
    takt_call call = {0};

    cr_assert_eq(takt_lower(client, &call, "pair", NULL, -1, note_call), TAKT_E_INVALID);
    cr_assert_eq(takt_lower(client, &call, "none", NULL, 1, note_call), TAKT_E_NO_LIMIT);
    run_call(takt_lower(client, &call, "pair", NULL, INT64_MAX, note_call));
    cr_assert_eq(last.standing.remaining, 2);
    for (int i = 0; i < 2; i++) {
        run_call(takt_lower(client, &call, "pair", NULL, 1, note_call));
        cr_assert_eq(last.status, 0);
        cr_assert_eq(last.standing.remaining, 1, "however often it is said");
    }
}

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
