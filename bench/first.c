/*
 * first.c: a worker that wants one permit: prints the instant of its grant (monotonic nanoseconds).
 * Started by cold.c.
 *
 *     first STORE
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <takt/takt.h>
#include <uv.h>

static void granted(takt_permit *permit, int status)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (status == 0)
        printf("%" PRId64 "\n", now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
    takt_release(permit);
    takt_close(permit->data, NULL, NULL);
}

int main(int argc, char **argv)
{
    takt_rule_text rule = {.rate = "1000000/s", .burst = "1000000"};
    takt_limit_text limit = {.name = "bench", .rules = &rule, .rule_count = 1};
    takt_options options = {.store = argc > 1 ? argv[1] : NULL};
    takt_policy *policy;
    takt_client *client;
    takt_permit permit = {0};
    takt_request request = TAKT_REQUEST("bench");

    if (takt_policy_new(&policy, NULL) < 0 || takt_policy_add(policy, &limit, NULL) < 0 ||
        takt_open(&client, uv_default_loop(), policy, &options, NULL) < 0)
        return 1;
    permit.data = client;
    if (takt_acquire(client, &permit, &request, granted) < 0)
        return 1;
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
