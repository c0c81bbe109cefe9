/*
 * A permit's life through the public interface.
 */
#include <stdlib.h>

#include "client/client_test.h"

TestSuite(acquire, .init = open_client, .fini = close_client);

Test(acquire, callback_comes_later_and_once)
{
    static seen job;

    cr_assert_eq(acquire(&job, TAKT_REQUEST("free")), 0);
    cr_assert_eq(job.calls, 0, "never inside the call");
    run_until(1);
    cr_assert_eq(job.status, 0);
    cr_assert_gt(job.permit.slot_at_us, 0);
    uv_run(&loop, UV_RUN_NOWAIT);
    cr_assert_eq(job.calls, 1);
    takt_release(&job.permit);
    takt_release(&job.permit);
}

Test(acquire, slots_are_evenly_spaced_and_never_early)
{
    static seen jobs[20];

    for (int i = 0; i < 20; i++)
        cr_assert_eq(acquire(&jobs[i], TAKT_REQUEST("fast")), 0);
    run_until(20);
    for (int i = 1; i < 20; i++) {
        cr_assert_eq(jobs[i].order, i + 1, "first come, first served");
        cr_assert_eq(jobs[i].permit.slot_at_us - jobs[i - 1].permit.slot_at_us, 1000);
        cr_assert_geq(jobs[i].at_us - jobs[0].at_us, 0);
    }
}

Test(acquire, urgent_waiters_go_first)
{
    static seen jobs[10];

    for (int i = 0; i < 10; i++) {
        takt_request request = TAKT_REQUEST("fast");
        request.priority = 9 - i;
        cr_assert_eq(acquire(&jobs[i], request), 0);
    }
    run_until(10);
    for (int i = 0; i < 10; i++)
        cr_assert_eq(jobs[i].order, 10 - i);
}

#define T16 "tenant_of_16_byt"

Test(acquire, bad_requests_are_refused_with_words)
{
    char long_key[TAKT_KEY_SIZE_MAX + 2];
    takt_error error;
    static seen job;
    takt_request request;
    static const struct {
        takt_request request;
        int code;
        const char *words;
    } bad[] = {
        {{0}, TAKT_E_INVALID, "names no limit"},
        {{"free", NULL, 0, 5, 0, {0}, {{NULL, 0}}, NULL}, TAKT_E_INVALID, "TAKT_REQUEST"},
        {{"free", NULL, TAKT_COST_MAX + 1, 5, 0, {0}, {{NULL, 0}}, NULL},
         TAKT_E_INVALID,
         "1 to 1000000"},
        {{"free", NULL, 1, -2, 0, {0}, {{NULL, 0}}, NULL}, TAKT_E_INVALID, "0 (most urgent) to 9"},
        {{"free", NULL, 1, 10, 0, {0}, {{NULL, 0}}, NULL}, TAKT_E_INVALID, "0 (most urgent) to 9"},
        {{"free", NULL, 1, 5, -1, {0}, {{NULL, 0}}, NULL}, TAKT_E_INVALID, "max_wait_us"},
        {{"unknown", NULL, 1, 5, 0, {0}, {{NULL, 0}}, NULL}, TAKT_E_NO_LIMIT, "\"unknown\""},
        {{"fsat", NULL, 1, 5, 0, {0}, {{NULL, 0}}, NULL},
         TAKT_E_NO_LIMIT,
         "no limit \"fsat\"; did you mean \"fast\"?"},
        {{"fast", NULL, 2, 5, 0, {0}, {{NULL, 0}}, NULL},
         TAKT_E_COST,
         "cost of 2 can never be given: rules[0] (1000/s) gives at most 1"},
        {{"inner", NULL, 3, 5, 0, {0}, {{NULL, 0}}, NULL}, TAKT_E_COST, "limit \"outer\""},
        {{"free", NULL, 1, 5, 0, {0}, {{NULL, 0}}, T16 T16 T16 T16 "t"},
         TAKT_E_INVALID,
         "a tenant of more than 64 bytes"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_eq(takt_check_request(policy, &bad[i].request, &error), bad[i].code, "row %zu",
                     i);
        cr_assert_not_null(strstr(error.text, bad[i].words), "row %zu says: %s", i, error.text);
        cr_assert_eq(acquire(&job, bad[i].request), bad[i].code, "row %zu", i);
    }
    memset(long_key, 'k', sizeof long_key);
    long_key[TAKT_KEY_SIZE_MAX + 1] = '\0';
    request = TAKT_REQUEST("free");
    request.key = long_key;
    cr_assert_eq(acquire(&job, request), TAKT_E_INVALID);
    long_key[TAKT_KEY_SIZE_MAX] = '\0';
    cr_assert_eq(acquire(&job, request), 0);
    run_until(1);
    cr_assert_eq(job.status, 0);
}

Test(acquire, a_waiting_permit_is_busy)
{
    static seen job;

    cr_assert_eq(acquire(&job, TAKT_REQUEST("free")), 0);
    cr_assert_eq(acquire(&job, TAKT_REQUEST("free")), TAKT_E_BUSY);
    run_until(1);
    cr_assert_eq(job.calls, 1);
}

Test(acquire, keys_have_ledgers_of_their_own)
{
    static seen jobs[3];
    takt_request request = TAKT_REQUEST("hourly");

    cr_assert_eq(acquire(&jobs[0], request), 0);
    request.key = "a";
    cr_assert_eq(acquire(&jobs[1], request), 0);
    request.key = "b";
    cr_assert_eq(acquire(&jobs[2], request), 0);
    run_until(3);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(jobs[i].status, 0);
}

Test(acquire, cancel_calls_back_and_release_does_not)
{
    static seen jobs[4];

    for (int i = 0; i < 4; i++)
        cr_assert_eq(acquire(&jobs[i], TAKT_REQUEST("hourly")), 0);
    run_until(1);
    cr_assert_eq(jobs[0].status, 0);
    cr_assert_eq(takt_cancel(&jobs[0].permit), TAKT_E_INVALID, "it does not wait any more");
    takt_release(&jobs[1].permit);
    cr_assert_eq(takt_cancel(&jobs[2].permit), 0);
    cr_assert_eq(takt_cancel(&jobs[2].permit), TAKT_E_INVALID);
    cr_assert_eq(jobs[2].calls, 0, "never inside the call");
    run_until(2);
    cr_assert_eq(jobs[2].status, TAKT_E_CANCELED);
    cr_assert_eq(jobs[1].calls, 0);
    cr_assert_eq(jobs[3].calls, 0);
    cr_assert_eq(acquire(&jobs[1], TAKT_REQUEST("free")), 0, "a released permit can be used again");
    run_until(3);
    cr_assert_eq(jobs[1].status, 0);
}

Test(acquire, a_deadline_that_cannot_be_met_is_refused_with_the_time)
{
    static seen jobs[2];
    takt_request request = TAKT_REQUEST("hourly");

    cr_assert_eq(acquire(&jobs[0], request), 0);
    run_until(1);
    request.max_wait_us = INT64_C(1800) * 1000000;
    cr_assert_eq(acquire(&jobs[1], request), 0);
    run_until(2);
    cr_assert_eq(jobs[1].status, TAKT_E_DEADLINE);
    cr_assert_gt(jobs[1].permit.retry_after_us, INT64_C(3000) * 1000000,
                 "the next slot is an hour off");
    cr_assert_leq(jobs[1].permit.retry_after_us, INT64_C(3602) * 1000000,
                  "and what clocks may drift");
}

Test(acquire, more_than_max_waiting_are_refused)
{
    static seen jobs[5];

    for (int i = 0; i < 5; i++)
        cr_assert_eq(acquire(&jobs[i], TAKT_REQUEST("small")), 0);
    run_until(3);
    cr_assert_eq(jobs[0].status, 0);
    cr_assert_eq(jobs[3].status, TAKT_E_FULL);
    cr_assert_eq(jobs[4].status, TAKT_E_FULL);
    cr_assert_eq(jobs[1].calls + jobs[2].calls, 0, "two wait");
}

Test(acquire, within_passes_through_both_limits)
{
    static seen jobs[3];

    for (int i = 0; i < 3; i++)
        cr_assert_eq(acquire(&jobs[i], TAKT_REQUEST("inner")), 0);
    run_until(2);
    cr_assert_eq(jobs[0].status, 0);
    cr_assert_eq(jobs[1].status, 0);
    for (int i = 0; i < 100; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    cr_assert_eq(jobs[2].calls, 0, "the outer limit gives two in an hour");
}

static void ask_again(takt_permit *permit, int status)
{
    takt_request request = TAKT_REQUEST("free");

    note(permit, status);
    cr_assert_eq(takt_acquire(client, permit, &request, ask_again), TAKT_E_BUSY);
    takt_release(permit);
    if (order < 1000)
        cr_assert_eq(takt_acquire(client, permit, &request, ask_again), 0);
}

Test(acquire, a_callback_may_acquire_again)
{
    static seen job;
    takt_request request = TAKT_REQUEST("free");
    takt_stats stats;

    job.permit.data = &job;
    cr_assert_eq(takt_acquire(client, &job.permit, &request, ask_again), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(job.calls, 1000);
    takt_get_stats(client, &stats);
    cr_assert_eq(stats.acquires, 1000);
    cr_assert_eq(stats.grants, 1000);
    cr_assert_eq(stats.waiting, 0);
}

static seen others[3];

static void release_the_others(takt_permit *permit, int status)
{
    note(permit, status);
    for (int i = 0; i < 3; i++)
        takt_release(&others[i].permit);
}

Test(acquire, a_callback_may_release_permits_whose_callbacks_are_due)
{
    static seen job;
    takt_request request = TAKT_REQUEST("free");
    takt_stats stats;

    job.permit.data = &job;
    cr_assert_eq(takt_acquire(client, &job.permit, &request, release_the_others), 0);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(acquire(&others[i], request), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(order, 1);
    takt_get_stats(client, &stats);
    cr_assert_eq(stats.waiting, 0);
}

/* Two slots are due at once; the first callback releases the second permit: the third gets its
 * slot. */
static seen second, third;

static void release_the_second(takt_permit *permit, int status)
{
    note(permit, status);
    takt_release(&second.permit);
    takt_release(permit);
}

Test(acquire, a_slot_that_is_not_used_goes_to_the_next_waiter)
{
    static seen first;
    takt_request request = TAKT_REQUEST("pair");

    first.permit.data = &first;
    cr_assert_eq(takt_acquire(client, &first.permit, &request, release_the_second), 0);
    cr_assert_eq(acquire(&second, request), 0);
    cr_assert_eq(acquire(&third, request), 0);
    run_until(2);
    cr_assert_eq(third.status, 0);
    cr_assert_eq(second.calls, 0);
}

Test(acquire, many_idle_keys_are_forgotten)
{
    static seen jobs[3000];
    char key[16];
    takt_request request = TAKT_REQUEST("free");

    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof key, "%d", i);
        request.key = key;
        cr_assert_eq(acquire(&jobs[i], request), 0);
    }
    run_until(3000);
    for (int i = 0; i < 3000; i++)
        cr_assert_eq(jobs[i].status, 0);
}

Test(acquire, the_longest_wait_is_no_deadline)
{
    static seen job;
    takt_request request = TAKT_REQUEST("free");

    request.max_wait_us = INT64_MAX;
    cr_assert_eq(acquire(&job, request), 0);
    run_until(1);
    cr_assert_eq(job.status, 0, "%s", takt_strerror(job.status));
}

static void note_and_close(takt_permit *permit, int status)
{
    note(permit, status);
    takt_close(client, NULL, NULL);
}

/* Both slots are due in one pass; the first callback closes, the second permit has passed its inner
 * limit only. */
Test(acquire_closing, a_slot_of_the_inner_limit_alone_is_no_permit, .init = open_client)
{
    static seen closer, job;
    takt_request request = TAKT_REQUEST("free");

    closer.permit.data = &closer;
    cr_assert_eq(takt_acquire(client, &closer.permit, &request, note_and_close), 0);
    cr_assert_eq(acquire(&job, TAKT_REQUEST("inner")), 0);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(closer.status, 0);
    cr_assert_eq(job.calls, 1);
    cr_assert_eq(job.status, TAKT_E_CANCELED);
    uv_loop_close(&loop);
    takt_policy_free(policy);
}

/* A request without a priority has the limit's. */
Test(acquire, the_policy_has_a_say_in_priorities)
{
    static const char text[] = "limits:\n  - name: urgent\n    priority: 1\n"
                               "    rules: [{rate: 1/h}]\n";
    takt_request request = TAKT_REQUEST("urgent");
    takt_policy *urgent;
    takt_client *mine;
    takt_permit permits[2] = {0};
    takt_error error;

    cr_assert_eq(takt_policy_parse(&urgent, "test", text, strlen(text), &error), 0, "%s",
                 error.text);
    cr_assert_eq(takt_open(&mine, &loop, urgent, &(takt_options){.store = "memory:"}, &error), 0);
    cr_assert_eq(takt_acquire(mine, &permits[0], &request, note), 0);
    cr_assert_eq(permits[0].priority, 1);
    request.priority = 7;
    cr_assert_eq(takt_acquire(mine, &permits[1], &request, note), 0);
    cr_assert_eq(permits[1].priority, 7);
    takt_release(&permits[0]);
    takt_release(&permits[1]);
    takt_close(mine, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    takt_policy_free(urgent);
}

/* A cost that a rule bounds: which rule it is, and what to change in it. */
Test(acquire, too_large_a_cost_tells_the_rule)
{
    static const char text[] =
        "limits:\n"
        "  - {name: two, rules: [{rate: 9/s, burst: 9}, {rate: 20/min, burst: 5}]}\n"
        "  - {name: window, headroom: 10%, rules: [{rate: 10/day, algorithm: fixed-window}]}\n"
        "  - {name: leaky, rules: [{rate: 10/s, algorithm: leaky-bucket}]}\n"
        "  - {name: inner, rules: [{rate: 9/s, burst: 99}], within: two}\n";
    static const struct {
        const char *limit, *words;
    } rows[] = {
        {"two",
         "limit \"two\": a cost of 10 can never be given: rules[1] (20/min burst 5) gives at "
         "most 5 at once; ask for less, or give the rule burst: 10"},
        {"window", "limit \"window\": a cost of 10 can never be given: rules[0] (10/day "
                   "fixed-window guard 50ms) "
                   "gives at most 9 at once; ask for less, or raise its rate"},
        {"leaky", "limit \"leaky\": a cost of 10 can never be given: rules[0] (10/s leaky-bucket) "
                  "gives at most 1 at once; ask for less, or use an algorithm with a burst"},
        {"inner", "limit \"two\": a cost of 10 can never be given: rules[1] (20/min burst 5) gives "
                  "at most 5 at once; ask for less, or give the rule burst: 10"},
    };
    takt_policy *read;
    takt_error error;

    cr_assert_eq(takt_policy_parse(&read, "p", text, strlen(text), &error), 0, "%s", error.text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        takt_request request = TAKT_REQUEST(rows[i].limit);
        request.cost = 10;
        cr_assert_eq(takt_check_request(read, &request, &error), TAKT_E_COST);
        cr_expect_str_eq(error.text, rows[i].words);
    }
    takt_policy_free(read);
}

/* ---- permits without concurrency hold nothing ------------------------------------------------ */

static void free_unreleased(takt_permit *permit, int status)
{
    cr_assert_eq(status, 0);
    order++;
    memset(permit, 0xff, sizeof *permit); /* the pass still serves its owner */
    free(permit);
}

Test(acquire, a_rate_alone_needs_no_release)
{
    takt_request request = TAKT_REQUEST("inner");

    request.within_keys[0] = "free";
    for (int i = 0; i < 2; i++) {
        takt_permit *permit = calloc(1, sizeof *permit);
        cr_assert_eq(takt_acquire(client, permit, &request, free_unreleased), 0);
        run_until(i + 1);
        uv_run(&loop, UV_RUN_DEFAULT);
    }
}

Test(acquire, without_a_release_a_permit_is_busy_until_it_is_zero)
{
    static seen job;

    cr_assert_eq(acquire(&job, TAKT_REQUEST("free")), 0);
    run_until(1);
    cr_assert_eq(acquire(&job, TAKT_REQUEST("free")), TAKT_E_BUSY);
    job.permit = (takt_permit){0};
    cr_assert_eq(acquire(&job, TAKT_REQUEST("free")), 0);
    run_until(2);
    cr_assert_eq(job.status, 0);
}
