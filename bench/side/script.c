/*
 * script.c: what many copy from somewhere: a minimal GCRA script (../direct.c) that says how long
 * to wait, and a loop that sleeps so long and asks again.  Sent by takt's own connection, so that
 * the difference is not in how bytes are sent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "../bench.h"
#include "../direct.h"
#include "base/list.h"
#include "plan.h"

typedef struct side_waiter {
    takt_redis_command command;
    uv_timer_t timer;
    char key[64];
    int64_t begin_ns;
} side_waiter;

static uv_loop_t loop;
static side_waiter *waiters;
static char interval_us[24], burst_us[24];
static int64_t asked, left;
static bool over;

static void ask(side_waiter *waiter)
{
    bench_direct_ask_for(&waiter->command, waiter->key, interval_us, burst_us);
}

static void begin(side_waiter *waiter)
{
    if (strcmp(side.workload, "memory") == 0)
        snprintf(waiter->key, sizeof waiter->key, "takt:{default/bench/key-%lld}",
                 (long long)asked);
    asked++;
    waiter->begin_ns = bench_now_ns();
    ask(waiter);
}

static void again(uv_timer_t *timer)
{
    ask(timer->data);
}

static void answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    side_waiter *waiter = TAKT_HOLDER(command, side_waiter, command);

    if (over && code != 0)
        return;
    bench_must(code < 0 || reply->type != TAKT_REPLY_INTEGER ? TAKT_E_STORE : 0, "the script");
    if (reply->integer > 0) {
        uv_timer_start(&waiter->timer, again, (uint64_t)(reply->integer + 999) / 1000, 0);
        return;
    }
    side_granted(0);
    if (side.end_us == 0)
        side_took(bench_now_ns() - waiter->begin_ns);
    if (side.end_us > 0 || asked < side.count)
        begin(waiter);
    else
        over = ++left == side.outstanding;
}

int main(int argc, char **argv)
{
    side_read_plan(argc, argv);
    snprintf(interval_us, sizeof interval_us, "%lld",
             (long long)(side.rate > 0 ? 1000000 / side.rate : 1));
    snprintf(burst_us, sizeof burst_us, "%lld",
             (long long)(side.rate > 0 ? 1000000 / side.rate : 1000000));
    if (strcmp(side.workload, "memory") == 0) {
        strcpy(interval_us, "36000000");
        strcpy(burst_us, "3600000000");
    }
    uv_loop_init(&loop);
    bench_direct_open(&loop, side.socket);
    waiters = calloc((size_t)side.outstanding, sizeof *waiters);
    side_wait_for_all();
    for (int64_t i = 0; i < side.outstanding; i++) {
        waiters[i].command.answered = answered;
        strcpy(waiters[i].key, "takt:{default/bench/direct}");
        uv_timer_init(&loop, &waiters[i].timer);
        waiters[i].timer.data = &waiters[i];
        begin(&waiters[i]);
    }
    while (!over && (side.end_us == 0 || side_now_us() < side.end_us))
        uv_run(&loop, UV_RUN_ONCE);
    side_tell();
    return 0;
}
