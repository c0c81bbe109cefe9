/*
 * Opening and closing, and what keeps a loop alive.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/client_test.h"
#include "client/stores.h"

TestSuite(client, .init = open_client, .fini = close_client);

Test(client, an_idle_client_does_not_keep_the_loop_alive)
{
    static seen job;

    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(acquire(&job, TAKT_REQUEST("free")), 0);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(job.calls, 1);
}

/* Runs the loop until it is idle. Returns whether the loop is still alive. */
static bool stays_alive(void)
{
    takt_stats stats = {0};

    do
        uv_run(&loop, UV_RUN_NOWAIT);
    while (takt_get_stats(client, &stats), stats.store_answers < stats.store_calls);
    for (int i = 0; i < 10; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    return uv_loop_alive(&loop);
}

static void keep_alive_on(const char *store)
{
    takt_limit_text held = {.name = "held", .concurrency = "1"};
    takt_call call = {0};
    seen jobs[3] = {{.calls = 0}};

    order = 0;
    open_client_on(store);
    cr_assert_eq(takt_policy_add(policy, &held, NULL), 0);
    cr_expect_not(uv_loop_alive(&loop), "%s: an open client alone", store);
    cr_assert_eq(acquire(&jobs[0], TAKT_REQUEST("hourly")), 0);
    run_until(1);
    cr_expect_not(stays_alive(), "%s: a permit of a rate alone", store);
    cr_assert_eq(acquire(&jobs[1], TAKT_REQUEST("hourly")), 0);
    cr_expect(stays_alive(), "%s: a permit waits", store);
    takt_release(&jobs[1].permit);
    cr_expect_not(stays_alive(), "%s: it waits no more", store);
    cr_assert_eq(acquire(&jobs[2], TAKT_REQUEST("held")), 0);
    run_until(2);
    cr_expect(stays_alive(), "%s: a permit with concurrency is held", store);
    takt_release(&jobs[2].permit);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(takt_block(client, NULL, "free", NULL, 1, NULL, NULL), 0);
    cr_expect(uv_loop_alive(&loop), "%s: a call is under way", store);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(acquire(&jobs[0], TAKT_REQUEST("free")), TAKT_E_BUSY, "not released");
    cr_assert_eq(takt_peek(client, &call, "free", NULL, NULL), TAKT_E_INVALID, "it is still open");
    close_client();
}

Test(loop, what_keeps_it_alive)
{
    on_each_store(keep_alive_on);
}

/* ---- when a policy may be freed -------------------------------------------------------------- */

static void free_policies(void *data)
{
    takt_policy **policies = data;

    takt_policy_free(policies[0]);
    takt_policy_free(policies[1]);
}

Test(policies, may_be_freed_when_the_client_is_closed)
{
    static const char text[] = "limits: [{name: hourly, rules: [{rate: 1/h}]}]\n";
    takt_policy *policies[2];
    static seen jobs[3];

    open_client();
    policies[0] = policy;
    cr_assert_eq(takt_policy_parse(&policies[1], "p", text, strlen(text), NULL), 0);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(acquire(&jobs[i], TAKT_REQUEST("hourly")), 0);
    run_until(1);
    cr_assert_eq(takt_reload(client, policies[1], NULL), 0);
    takt_close(client, free_policies, policies);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0);
    cr_assert_eq(jobs[2].status, TAKT_E_CANCELED);
}

static int closed;

static void note_closed(void *data)
{
    closed += *(int *)data;
}

Test(client, close_cancels_everything_once)
{
    static seen jobs[3];
    int one = 1;
    takt_request request = TAKT_REQUEST("hourly");
    takt_policy *kept = policy;

    for (int i = 0; i < 3; i++)
        cr_assert_eq(acquire(&jobs[i], request), 0);
    run_until(1);
    takt_close(client, note_closed, &one);
    takt_close(client, note_closed, &one);
    cr_assert_eq(acquire(&jobs[0], request), TAKT_E_BUSY);
    takt_release(&jobs[0].permit);
    cr_assert_eq(acquire(&jobs[0], request), TAKT_E_CANCELED);
    cr_assert_eq(jobs[1].calls, 0, "never inside the call");
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(closed, 1);
    cr_assert_eq(jobs[1].status, TAKT_E_CANCELED);
    cr_assert_eq(jobs[2].status, TAKT_E_CANCELED);
    cr_assert_eq(jobs[2].calls, 1);
    takt_policy_free(kept);
    uv_loop_close(&loop);
    open_client();
}

static void close_in_callback(takt_permit *permit, int status)
{
    int *calls = permit->data;

    (void)status;
    ++*calls;
    takt_close(client, NULL, NULL);
}

Test(client, close_in_a_callback)
{
    takt_permit permits[3] = {0};
    takt_request request = TAKT_REQUEST("free");
    int calls = 0;

    for (int i = 0; i < 3; i++) {
        permits[i].data = &calls;
        cr_assert_eq(takt_acquire(client, &permits[i], &request, close_in_callback), 0);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(calls, 3);
    takt_policy_free(policy);
    uv_loop_close(&loop);
    open_client();
}

Test(client, what_cannot_be_opened_says_why)
{
    static const struct {
        const char *store;
        int code;
    } bad[] = {
        {"nonsense", TAKT_E_STORE_URL},
        {"file:/proc/takt/none.mdb", TAKT_E_STORE_ACCESS},
        {"file:/etc/passwd", TAKT_E_STORE_FORMAT},
    };
    takt_client *none = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        takt_options options = {.store = bad[i].store};
        takt_error error = {0};
        cr_assert_eq(takt_open(&none, &loop, policy, &options, &error), bad[i].code, "%s: %s",
                     bad[i].store, error.text);
        cr_assert_gt(strlen(error.text), 10);
        cr_assert_null(none);
    }
    cr_assert_eq(takt_open(NULL, &loop, policy, NULL, NULL), TAKT_E_INVALID);
}

Test(client, a_within_that_dangles_is_refused)
{
    takt_client *none = NULL;
    takt_error error;

    add_limit("loose", "1/s", "1", "nobody", NULL);
    cr_assert_eq(takt_open(&none, &loop, policy, NULL, &error), TAKT_E_POLICY);
    cr_assert_not_null(strstr(error.text, "nobody"), "%s", error.text);
    takt_close(client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    takt_policy_free(policy);
    open_client();
}

Test(client, two_clients_share_a_named_memory_store)
{
    uv_loop_t other_loop;
    takt_client *other;
    takt_options options = {.store = "memory:shared"};
    takt_request request = TAKT_REQUEST("hourly");
    static seen mine, theirs;

    takt_close(client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, NULL), 0);
    cr_assert_eq(uv_loop_init(&other_loop), 0);
    cr_assert_eq(takt_open(&other, &other_loop, policy, &options, NULL), 0);
    theirs.permit.data = &theirs;
    cr_assert_eq(takt_acquire(other, &theirs.permit, &request, note), 0);
    uv_run(&other_loop, UV_RUN_DEFAULT);
    cr_assert_eq(theirs.status, 0);
    request.max_wait_us = 1;
    cr_assert_eq(acquire(&mine, request), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(mine.status, TAKT_E_DEADLINE, "the other client took the token");
    takt_close(other, NULL, NULL);
    uv_run(&other_loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&other_loop), 0);
}

#define KEYS 5000

/* What claims under way take up does not grow with the number of keys; all of them come. */
Test(client, claims_of_many_keys_go_in_turns)
{
    seen *jobs = calloc(KEYS, sizeof *jobs);
    takt_request request = TAKT_REQUEST("free");
    takt_stats stats;
    char key[16];

    request.key = key;
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "%d", i);
        cr_assert_eq(acquire(&jobs[i], request), 0);
    }
    uv_run(&loop, UV_RUN_NOWAIT);
    takt_get_stats(client, &stats);
    cr_assert_leq(stats.store_calls, 2048, "%lld", (long long)stats.store_calls);
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < KEYS; i++)
        cr_assert_eq(jobs[i].calls, 1);
    free(jobs);
}

/* A client leaves more ledgers at its close than it may send claims at once. */
Test(client, closing_with_many_keys)
{
    seen *jobs = calloc(KEYS, sizeof *jobs);
    takt_request request = TAKT_REQUEST("hourly");
    char key[16];

    request.key = key;
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "%d", i / 2);
        cr_assert_eq(acquire(&jobs[i], request), 0);
    }
    uv_run(&loop, UV_RUN_NOWAIT);
    takt_close(client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < KEYS; i++)
        cr_assert_eq(jobs[i].calls, 1);
    free(jobs);
    takt_policy_free(policy);
    uv_loop_close(&loop);
    open_client();
}
