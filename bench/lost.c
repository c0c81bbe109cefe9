/*
 * lost.c: how soon a caller hears that its server is not there: nobody listens, the server is
 * killed while a call is under way, the server is frozen (the call's time-out is 300 ms).
 *
 *     lost [TIMES]
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "bench.h"
#include "server.h"

#define TIMEOUT_US 300000

static uv_loop_t loop;
static takt_client *client;
static bool answered;
static int answer;

static void peeked(takt_call *call, int status, const takt_standing *standing)
{
    (void)call;
    (void)standing;
    answer = status;
    answered = true;
}

static void begin(takt_call *call)
{
    answered = false;
    bench_must(takt_peek(client, call, "bench", NULL, peeked), "takt_peek");
}

/* The code that a call comes back with. */
static int await(void)
{
    while (!answered)
        uv_run(&loop, UV_RUN_ONCE);
    return answer;
}

static void expect(int code, int expected, const char *when)
{
    if (code == expected)
        return;
    fprintf(stderr, "%s: %s\n", when, takt_strerror(code));
    exit(1);
}

static void open_client(const takt_policy *policy, const char *url)
{
    takt_options options = {.store = url, .store_timeout_us = TIMEOUT_US};

    bench_must(takt_open(&client, &loop, policy, &options, NULL), "takt_open");
}

static void close_client(void)
{
    takt_close(client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
}

static int64_t refused_ns(const takt_policy *policy)
{
    takt_call call = {0};
    int64_t begin_ns = bench_now_ns();
    char url[128];

    snprintf(url, sizeof url, "unix:%s.nobody", bench_server_socket());
    open_client(policy, url);
    begin(&call);
    expect(await(), TAKT_E_STORE, "refused");
    begin_ns = bench_now_ns() - begin_ns;
    close_client();
    return begin_ns;
}

/* A server that is stopped, so that a call stays under way, and killed then or not. */
static int64_t stopped_ns(const takt_policy *policy, bool kill)
{
    takt_call call = {0};
    int64_t begin_ns;

    open_client(policy, bench_server());
    begin(&call);
    expect(await(), 0, "a peek");
    bench_server_kill(SIGSTOP);
    begin_ns = bench_now_ns();
    begin(&call);
    if (kill) {
        for (int i = 0; i < 10; i++)
            uv_run(&loop, UV_RUN_NOWAIT); /* the call goes out */
        begin_ns = bench_now_ns();
        bench_server_kill(SIGKILL);
    }
    expect(await(), kill ? TAKT_E_STORE : TAKT_E_STORE_TIMEOUT, kill ? "killed" : "frozen");
    begin_ns = bench_now_ns() - begin_ns;
    bench_server_kill(SIGCONT);
    close_client();
    return begin_ns;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10;
    takt_policy *policy = bench_policy("1000000/s", "1000000");
    int64_t refused = 0, killed = 0, frozen = 0, ns;

    uv_loop_init(&loop);
    for (int i = 0; i < count; i++) {
        refused = (ns = refused_ns(policy)) > refused ? ns : refused;
        killed = (ns = stopped_ns(policy, true)) > killed ? ns : killed;
        frozen = (ns = stopped_ns(policy, false)) > frozen ? ns : frozen;
    }
    printf("{\"bench\":\"lost\",\"times\":%d,\"refused_most_ms\":%.3f,\"killed_most_ms\":%.3f,"
           "\"timeout_ms\":%d,\"frozen_most_ms\":%.3f}\n",
           count, (double)refused / 1e6, (double)killed / 1e6, TIMEOUT_US / 1000,
           (double)frozen / 1e6);
    takt_policy_free(policy);
    uv_loop_close(&loop);
    return 0;
}
