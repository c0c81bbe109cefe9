/*
 * memory.c: what ledgers take in a server.
 *
 *     memory [KEYS [ENTRIES]]
 *
 * KEYS ledgers of a one-rule GCRA limit, beside as many plain SETs with an expiry of a value of 24
 * bytes under names of the same length; and KEYS sliding logs of ENTRIES entries.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "bench.h"
#include "direct.h"
#include "server.h"

#define OUTSTANDING 200

typedef struct bench_try {
    takt_call call; /* first member */
    takt_permit permit;
    char key[24];
} bench_try;

static struct {
    takt_client *client;
    bench_try tries[OUTSTANDING];
    takt_redis_command sets[OUTSTANDING];
    int64_t keys, next, end;
    int under_way;
} bench;

static uv_loop_t loop;

static void tried(takt_call *call, int status, const takt_standing *standing);

static void try_next(bench_try *each)
{
    takt_request request = TAKT_REQUEST("bench");

    if (bench.next == bench.end)
        return;
    snprintf(each->key, sizeof each->key, "%08" PRId64, bench.next++ % bench.keys);
    request.key = each->key;
    bench.under_way++;
    bench_must(takt_try_acquire(bench.client, &each->call, &each->permit, &request, tried),
               "takt_try_acquire");
}

static void tried(takt_call *call, int status, const takt_standing *standing)
{
    (void)standing;
    bench_must(status, "a try");
    bench.under_way--;
    takt_release(&((bench_try *)call)->permit);
    try_next((bench_try *)call);
}

static void set_next(takt_redis_command *command)
{
    char name[64];
    const char *const words[] = {"SET", name, "123456789012345678901234", "EX", "3600"};

    if (bench.next == bench.end)
        return;
    snprintf(name, sizeof name, "takt:{default/bench/%08" PRId64 "}", bench.next++);
    bench.under_way++;
    bench_direct_send(command, 5, words);
}

static void is_set(takt_redis_command *command, const takt_reply *reply, int code)
{
    bench_must(code < 0 || reply->type != TAKT_REPLY_STATUS ? TAKT_E_STORE : 0, "SET");
    bench.under_way--;
    set_next(command);
}

/* Does it for every key, `rounds` times, key after key; returns the bytes that the server then has
 * more than before. */
static int64_t fill(int64_t rounds, void (*begin)(int index))
{
    int64_t before;

    bench_server_say("FLUSHALL SYNC");
    before = bench_server_info("used_memory");
    bench.next = 0;
    bench.end = bench.keys * rounds;
    for (int i = 0; i < OUTSTANDING; i++)
        begin(i);
    while (bench.under_way > 0)
        uv_run(&loop, UV_RUN_ONCE);
    return bench_server_info("used_memory") - before;
}

static void begin_try(int index)
{
    try_next(&bench.tries[index]);
}

static void begin_set(int index)
{
    bench.sets[index].answered = is_set;
    set_next(&bench.sets[index]);
}

static void closed(void *data)
{
    *(bool *)data = true;
}

static void close_client(void)
{
    bool done = false;

    takt_close(bench.client, closed, &done);
    while (!done)
        uv_run(&loop, UV_RUN_ONCE);
}

static int64_t ledgers(const char *rate, const char *algorithm, int64_t rounds)
{
    takt_rule_text rule = {.rate = rate, .algorithm = algorithm};
    takt_limit_text limit = {.name = "bench", .rules = &rule, .rule_count = 1};
    takt_options options = {.store = bench_server(), .store_timeout_us = 60000000};
    takt_policy *policy;
    int64_t bytes;

    bench_must(takt_policy_new(&policy, NULL), "takt_policy_new");
    bench_must(takt_policy_add(policy, &limit, NULL), "takt_policy_add");
    bench_must(takt_open(&bench.client, &loop, policy, &options, NULL), "takt_open");
    bytes = fill(rounds, begin_try);
    close_client();
    takt_policy_free(policy);
    return bytes;
}

int main(int argc, char **argv)
{
    int64_t entries = argc > 2 ? atoll(argv[2]) : 60;
    int64_t plain, gcra, logs;
    char rate[32];

    bench.keys = argc > 1 ? atoll(argv[1]) : 100000;
    snprintf(rate, sizeof rate, "%" PRId64 "/h", entries);
    uv_loop_init(&loop);
    (void)bench_server();
    bench_direct_open(&loop, bench_server_socket());
    plain = fill(1, begin_set);
    gcra = ledgers("60/h", NULL, 1);
    logs = ledgers(rate, "sliding-log", entries);
    printf("{\"bench\":\"memory\",\"keys\":%" PRId64 ",\"plain_bytes_per_key\":%.1f,"
           "\"gcra_bytes_per_key\":%.1f,\"ratio\":%.3f,\"log_entries\":%" PRId64
           ",\"log_bytes_per_key\":%.1f,\"logs_bytes\":%" PRId64 "}\n",
           bench.keys, (double)plain / (double)bench.keys, (double)gcra / (double)bench.keys,
           (double)gcra / (double)plain, entries, (double)logs / (double)bench.keys, logs);
    bench_direct_close();
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return 0;
}
