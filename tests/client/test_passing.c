/*
 * Work that a limit in shadow lets pass at once: it can be cancelled while it is to wait for the
 * limit around, asking again and again leaves the loop to others, and limits and keys that nothing
 * waits for any more are forgotten.
 */
#include "client/client.h"
#include "client/client_test.h"

#define KEYS 4000
#define KEPT 1100 /* queues that may be kept for use again */

static void set_up(void)
{
    static const char text[] =
        "limits:\n"
        "  - {name: shade, mode: shadow, rules: [{rate: 1000/s, burst: 3}]}\n"
        "  - {name: inner, mode: shadow, rules: [{rate: 1000/s}], within: hourly}\n"
        "  - {name: hourly, rules: [{rate: 1/h}]}\n"
        "  - {name: plain, rules: [{rate: 1000/s}]}\n";
    takt_options options = {.store = "memory:", .on_event = note_event};
    takt_error error;

    order = 0;
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error), 0, "%s", error.text);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, &error), 0, "%s", error.text);
}

TestSuite(passing, .init = set_up, .fini = close_client);

Test(passing, cancelled_before_it_waits)
{
    static seen first, second;

    cr_assert_eq(acquire(&first, TAKT_REQUEST("hourly")), 0);
    run_until(1);
    cr_assert_eq(acquire(&second, TAKT_REQUEST("inner")), 0);
    cr_expect_eq(takt_cancel(&second.permit), 0);
    cr_expect_eq(takt_cancel(&second.permit), TAKT_E_INVALID, "it does not wait any more");
    run_until(2);
    cr_expect_eq(second.status, TAKT_E_CANCELED);
    cr_assert_eq(acquire(&second, TAKT_REQUEST("shade")), 0);
    cr_expect_eq(takt_cancel(&second.permit), TAKT_E_INVALID, "it is granted already");
    run_until(3);
    cr_expect_eq(second.status, 0);
}

/* Asks with the same permit until another handle of the loop had its turn. */
static bool others_ran;

static void ask_again(takt_permit *permit, int status)
{
    seen *job = permit->data;

    note(permit, status);
    takt_release(permit);
    if (!others_ran && job->calls < 100000)
        cr_assert_eq(takt_acquire(client, permit, &TAKT_REQUEST("shade"), ask_again), 0);
}

static void run_others(uv_check_t *check)
{
    others_ran = true;
    uv_check_stop(check);
}

Test(passing, others_have_the_loop_too)
{
    static seen job;
    static uv_check_t others; /* closed when the test is over */

    job.permit.data = &job;
    uv_check_init(&loop, &others);
    uv_check_start(&others, run_others);
    cr_assert_eq(takt_acquire(client, &job.permit, &TAKT_REQUEST("shade"), ask_again), 0);
    while (!others_ran)
        uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect_lt(job.calls, 1000, "%d callbacks in one turn", job.calls);
    uv_close((uv_handle_t *)&others, NULL);
}

static void note_call(takt_call *call, int status, const takt_standing *standing)
{
    (void)standing;
    cr_assert_eq(status, 0, "%s", takt_strerror(status));
    ++*(int *)call->data;
}

static void name_key(takt_request *request, int i)
{
    static char key[16];

    snprintf(key, sizeof key, "%d", i);
    request->key = key;
}

Test(passing, keys_that_were_tried_are_forgotten)
{
    takt_request request = TAKT_REQUEST("plain");
    int calls = 0;

    for (int i = 0; i < KEYS; i++) {
        takt_call call = {.data = &calls};
        takt_permit permit = {0};
        name_key(&request, i);
        cr_assert_eq(takt_try_acquire(client, &call, &permit, &request, note_call), 0);
        while (calls <= i)
            uv_run(&loop, UV_RUN_ONCE);
        takt_release(&permit);
    }
    cr_expect_lt((int)client->scheduler.queues.count, KEPT);
}

/* A shadow waiter with an impossible cost does not wait. */
Test(passing, keys_of_impossible_costs_are_forgotten)
{
    takt_request request = TAKT_REQUEST("shade");
    seen job = {.calls = 0};

    request.cost = 4;
    for (int i = 0; i < KEYS; i++) {
        name_key(&request, i);
        cr_assert_eq(acquire(&job, request), 0);
        run_until(i + 1);
        cr_assert_eq(job.status, 0);
        takt_release(&job.permit);
    }
    cr_expect_lt((int)client->scheduler.queues.count, KEPT);
}
