/*
 * peek, watch, block, unblock, lower and reset through the public interface, and those that change
 * a ledger without a takt_call.
 */
#include "client/calls.h"

TestSuite(call, .init = open_client, .fini = close_client);

Test(call, peek_changes_nothing)
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

Test(call, watch_counts_what_is_taken)
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

Test(call, block_holds_everybody_and_unblock_lets_go)
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

Test(call, bad_calls_are_refused)
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

Test(call, a_call_under_way_is_busy)
{
    takt_call call = {0};

    cr_assert_eq(takt_peek(client, &call, "free", NULL, note_call), 0);
    cr_assert_eq(takt_peek(client, &call, "free", NULL, note_call), TAKT_E_BUSY);
    while (last.calls == 0)
        uv_run(&loop, UV_RUN_ONCE);
    run_call(takt_peek(client, &call, "free", NULL, note_call));
}

Test(call, close_answers_calls_under_way)
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

Test(call, lower)
{
    takt_call call = {0};

    cr_assert_eq(takt_lower(client, &call, "pair", NULL, NULL, -1, note_call), TAKT_E_INVALID);
    cr_assert_eq(takt_lower(client, &call, "none", NULL, NULL, 1, note_call), TAKT_E_NO_LIMIT);
    run_call(takt_lower(client, &call, "pair", NULL, NULL, INT64_MAX, note_call));
    cr_assert_eq(last.standing.remaining, 2);
    for (int i = 0; i < 2; i++) {
        run_call(takt_lower(client, &call, "pair", NULL, NULL, 1, note_call));
        cr_assert_eq(last.status, 0);
        cr_assert_eq(last.standing.remaining, 1, "however often it is said");
    }
}

/* ---- detached calls -------------------------------------------------------------------------- */

static takt_standing look(const char *limit, const char *key)
{
    takt_call call = {0};

    run_call(takt_peek(client, &call, limit, key, note_call));
    cr_assert_eq(last.status, 0);
    return last.standing;
}

Test(call, detached_calls_do_what_the_others_do)
{
    takt_standing found;

    cr_assert_eq(takt_block(client, NULL, "pair", "k", INT64_C(60000000), "a test", NULL), 0);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0, "the loop ends when it is answered");
    found = look("pair", "k");
    cr_expect_gt(found.blocked_until_us, found.now_us);
    cr_expect_str_eq(found.reason, "a test");
    cr_assert_eq(takt_unblock(client, NULL, "pair", "k", NULL), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(look("pair", "k").blocked_until_us, 0);
    cr_assert_eq(takt_penalize(client, NULL, "pair", "p", INT64_C(60000000), NULL, NULL), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_gt(look("pair", "p").blocked_until_us, 0);
    cr_assert_eq(takt_lower(client, NULL, "pair", "l", NULL, 1, NULL), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(look("pair", "l").remaining, 1);
    cr_assert_eq(takt_reset(client, NULL, "pair", "l", NULL), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(look("pair", "l").remaining, 2);
}

Test(call, detached_calls_that_are_refused)
{
    takt_call call = {0};
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("free");

    cr_expect_eq(takt_peek(client, NULL, "free", NULL, NULL), TAKT_E_INVALID);
    cr_expect_eq(takt_watch(client, NULL, "free", NULL, 1, NULL), TAKT_E_INVALID);
    cr_expect_eq(takt_try_acquire(client, NULL, &permit, &request, NULL), TAKT_E_INVALID);
    cr_expect_eq(takt_block(client, NULL, "free", NULL, 1, NULL, note_call), TAKT_E_INVALID);
    cr_expect_eq(takt_block(client, &call, "free", NULL, 1, NULL, NULL), TAKT_E_INVALID);
    cr_expect_eq(takt_block(client, NULL, "free", NULL, -1, NULL, NULL), TAKT_E_INVALID);
    cr_expect_eq(takt_block(client, NULL, "free", NULL, 1, "two\nlines", NULL), TAKT_E_INVALID);
    cr_expect_eq(takt_block(client, NULL, "unknown", NULL, 1, NULL, NULL), TAKT_E_NO_LIMIT);
    cr_expect_eq(takt_block(NULL, NULL, "free", NULL, 1, NULL, NULL), TAKT_E_INVALID);
    cr_expect_eq(last.calls, 0);
}

Test(call, detached_calls_are_bounded)
{
    takt_call call = {0};

    for (int round = 0; round < 2; round++) { /* those that have ended no longer count */
        for (int i = 0; i < TAKT_DETACHED_MAX; i++)
            cr_assert_eq(takt_lower(client, NULL, "free", NULL, NULL, 7, NULL), 0);
        cr_expect_eq(takt_lower(client, NULL, "free", NULL, NULL, 7, NULL), TAKT_E_BUSY);
        cr_expect_eq(takt_peek(client, &call, "free", NULL, note_call), 0,
                     "others are not bounded");
        uv_run(&loop, UV_RUN_DEFAULT);
    }
    cr_assert_eq(last.calls, 2);
}

Test(call, close_waits_for_detached_calls)
{
    takt_options options = {.store = "memory:detached"};
    takt_standing found;
    takt_client *other;

    cr_assert_eq(takt_open(&other, &loop, policy, &options, NULL), 0);
    takt_close(client, NULL, NULL);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, NULL), 0);
    cr_assert_eq(takt_block(other, NULL, "fast", NULL, INT64_C(60000000), NULL, NULL), 0);
    takt_close(other, NULL, NULL);
    cr_expect_eq(takt_block(other, NULL, "fast", NULL, 1, NULL, NULL), TAKT_E_CANCELED);
    uv_run(&loop, UV_RUN_DEFAULT);
    found = look("fast", NULL);
    cr_expect_gt(found.blocked_until_us, found.now_us);
}

/* A unit is one that the limit's rules count. */
Test(call_by_unit, lower)
{
    static const char text[] =
        "limits:\n"
        "  - {name: both, rules: [{rate: 9/min, burst: 9, counts: requests}, {rate: 50/min, burst: "
        "50}]}\n"
        "  - {name: calls, rules: [{rate: 9/min, burst: 9, counts: requests}]}\n"
        "  - {name: words, rules: [{rate: 50/min, burst: 50}]}\n";
    takt_options options = {.store = "memory:"};
    takt_error error = {0};
    takt_call call = {0};

    cr_assert_eq(takt_policy_parse(&policy, "p", text, sizeof text - 1, &error), 0, "%s",
                 error.text);
    uv_loop_init(&loop);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, NULL), 0);
    run_call(takt_lower(client, &call, "both", NULL, "requests", 3, note_call));
    cr_expect_eq(last.standing.remaining, 50, "tokens are told");
    run_call(takt_lower(client, &call, "both", NULL, "tokens", 20, note_call));
    cr_expect_eq(last.standing.remaining, 20);
    run_call(takt_lower(client, &call, "both", NULL, NULL, 10, note_call));
    cr_expect_eq(last.standing.remaining, 10, "tokens, unless it is said");
    run_call(takt_lower(client, &call, "calls", NULL, NULL, 5, note_call));
    cr_expect_eq(last.standing.remaining, 5, "requests, if no rule counts tokens");
    run_call(takt_lower(client, &call, "calls", NULL, "requests", 4, note_call));
    cr_expect_eq(last.standing.remaining, 4);
    cr_expect_eq(takt_lower(client, &call, "calls", NULL, "tokens", 1, note_call), TAKT_E_INVALID);
    cr_expect_eq(takt_lower(client, &call, "words", NULL, "requests", 1, note_call),
                 TAKT_E_INVALID);
    cr_expect_eq(takt_lower(client, &call, "words", NULL, "words", 1, note_call), TAKT_E_INVALID);
    takt_close(client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    takt_policy_free(policy);
    uv_loop_close(&loop);
}
