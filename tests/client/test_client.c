/*
 * Opening and closing, and what keeps a loop alive.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/client_test.h"

TestSuite(client, .init = open_client, .fini = close_client);

Test(client, an_idle_client_does_not_keep_the_loop_alive)
{
    static seen job;

    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(acquire(&job, TAKT_REQUEST("free")), 0);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(job.calls, 1);
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

/* Closing says good-bye to more ledgers than claims may be under way. */
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
