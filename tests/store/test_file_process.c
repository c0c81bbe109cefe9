/*
 * test_file_process.c: a store's file when processes are killed, stopped or forked. No test waits
 * for a time: processes report their steps by pipes and signals.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "store/rig.h"
#include "store/scratch_file.h"

struct worker {
    const struct scratch *scratch;
    int pipe[2];
};

static void make_file(struct scratch *scratch)
{
    struct rig rig;

    scratch_init(scratch);
    rig_open(&rig, scratch->url);
    rig_close(&rig);
}

/* ---- killed ---------------------------------------------------------------------------------- */

enum { ROUNDS = 100, KEYS = 40 };

#define AGE (18000 * RIG_DAY) /* of its tokens none comes free meanwhile */

struct hammer {
    struct worker *worker;
    struct rig rig;
    struct rig_call calls[KEYS];
    char keys[KEYS][16];
};

/* Runs forever, and reports each finished call. */
static void on_hammered(takt_store_call *call)
{
    struct hammer *hammer = call->data;

    if (call->status != 0 || write(hammer->worker->pipe[1], "", 1) != 1)
        _exit(1);
    takt_store_submit(hammer->rig.store, call);
}

static int hammer_forever(void *argument)
{
    static struct hammer hammer;
    takt_limit limit = rig_limit("a", 1000000, AGE, 1000000);

    hammer.worker = argument;
    rig_open(&hammer.rig, hammer.worker->scratch->url);
    for (int i = 0; i < KEYS; i++) {
        snprintf(hammer.keys[i], sizeof hammer.keys[i], "%d", i);
        rig_call_init(&hammer.calls[i], TAKT_OP_TRY, &limit, hammer.keys[i]);
        hammer.calls[i].call.done = on_hammered;
        hammer.calls[i].call.data = &hammer;
        takt_store_submit(hammer.rig.store, &hammer.calls[i].call);
    }
    uv_run(&hammer.rig.loop, UV_RUN_DEFAULT);
    return 1;
}

/* Lets two of them run for a while, kills one at a random moment, and counts the answers of
 * both. */
static int64_t kill_in_the_middle(struct worker *worker, uint64_t *random)
{
    int64_t reads = takt_random_below(random, 20) + 1, told = 0;
    int victim, other;
    char bytes[256];
    ssize_t n;

    cr_assert_eq(pipe(worker->pipe), 0);
    victim = rig_fork(hammer_forever, worker);
    other = rig_fork(hammer_forever, worker);
    close(worker->pipe[1]);
    for (; reads > 0; reads--)
        told += read(worker->pipe[0], bytes, sizeof bytes);
    kill(victim, SIGKILL);
    cr_assert_eq(rig_reap(victim), 128 + SIGKILL);
    for (reads = 4; reads > 0; reads--) /* the other one continues */
        told += read(worker->pipe[0], bytes, sizeof bytes);
    kill(other, SIGKILL);
    cr_assert_eq(rig_reap(other), 128 + SIGKILL);
    while ((n = read(worker->pipe[0], bytes, sizeof bytes)) > 0)
        told += n;
    close(worker->pipe[0]);
    return told;
}

Test(file_process, survives_kill_at_any_moment, .timeout = 280)
{
    takt_limit limit = rig_limit("a", 1000000, AGE, 1000000);
    struct scratch scratch;
    struct worker worker = {.scratch = &scratch};
    uint64_t random = 1;
    int64_t told = 0, taken = 0;
    struct rig rig;
    char key[16];

    make_file(&scratch);
    for (int round = 0; round < ROUNDS; round++)
        told += kill_in_the_middle(&worker, &random);
    rig_open(&rig, scratch.url);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "%d", i);
        taken += 1000000 - rig_peek(&rig, &limit, key).remaining;
        cr_expect_eq(rig_try(&rig, &limit, key, 1), 0);
    }
    cr_expect_gt(told, 0);
    cr_expect_geq(taken, told, "what was told is kept: %ld, %ld", (long)taken, (long)told);
    cr_expect_eq(rig.damaged + rig.replaced, 0);
    rig_close(&rig);
    scratch_remove(&scratch);
}

/* ---- stopped --------------------------------------------------------------------------------- */

/* Starts a process that stops inside a write transaction, and returns when it has stopped. */
static int start_stopped(struct scratch *scratch)
{
    int process = rig_fork(scratch_stop_inside, scratch), status;

    cr_assert_eq(waitpid(process, &status, WUNTRACED), process);
    cr_assert(WIFSTOPPED(status));
    return process;
}

static void open_with_timeout(struct rig *rig, const struct scratch *scratch, int64_t timeout_us)
{
    takt_error error = {0};

    cr_assert_eq(rig_try_open(rig, scratch->url, "test", timeout_us, &error), 0, "%s", error.text);
}

static void count_turn(uv_idle_t *idle)
{
    ++*(int *)idle->data;
}

Test(file_process, a_stopped_process_holds_up_no_loop)
{
    enum { CALLS = 20 };
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    struct scratch scratch;
    struct rig rig;
    struct rig_call calls[CALLS];
    uv_idle_t idle;
    int turns = 0, process;

    make_file(&scratch);
    process = start_stopped(&scratch);
    open_with_timeout(&rig, &scratch, 2000000);
    uv_idle_init(&rig.loop, &idle);
    idle.data = &turns;
    uv_idle_start(&idle, count_turn);
    for (int i = 0; i < CALLS; i++) {
        rig_call_init(&calls[i], TAKT_OP_TRY, &limit, "k");
        rig_submit(&rig, &calls[i]);
    }
    for (int i = 0; i < CALLS; i++) {
        rig_wait(&rig, &calls[i]);
        cr_expect_eq(calls[i].call.status, TAKT_E_STORE_TIMEOUT);
    }
    cr_expect_gt(turns, 100, "the loop went round while the calls waited");
    uv_close((uv_handle_t *)&idle, NULL);
    kill(process, SIGCONT);
    cr_expect_eq(rig_reap(process), 0);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 99,
                 "what was given up was not carried out");
    rig_close(&rig);
    scratch_remove(&scratch);
}

/* The machine was stopped, this process and the other one on it: no call is late. */
Test(file_process, a_process_that_was_stopped_itself_gives_nothing_up)
{
    enum { TIMEOUT_MS = 1000 };
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    struct scratch scratch;
    struct rig rig;
    struct rig_call call;
    uint64_t begun_ns;
    int process;

    make_file(&scratch);
    process = start_stopped(&scratch);
    open_with_timeout(&rig, &scratch, TIMEOUT_MS * 1000);
    rig_call_init(&call, TAKT_OP_TRY, &limit, "k");
    rig_submit(&rig, &call);
    uv_run(&rig.loop, UV_RUN_NOWAIT);
    begun_ns = uv_hrtime();
    while (uv_hrtime() < begun_ns + 2 * TIMEOUT_MS * UINT64_C(1000000))
        continue;
    uv_run(&rig.loop, UV_RUN_NOWAIT); /* sees what time it is */
    kill(process, SIGCONT);
    cr_expect_eq(rig_reap(process), 0);
    rig_wait(&rig, &call);
    cr_expect_eq(call.call.status, 0);
    rig_close(&rig);
    scratch_remove(&scratch);
}

Test(file_process, a_stopped_process_that_is_killed_lets_others_go_on)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    struct scratch scratch;
    struct rig rig;
    struct rig_call call;
    int process;

    make_file(&scratch);
    process = start_stopped(&scratch);
    rig_open(&rig, scratch.url);
    rig_call_init(&call, TAKT_OP_TRY, &limit, "k");
    rig_submit(&rig, &call);
    uv_run(&rig.loop, UV_RUN_NOWAIT);
    kill(process, SIGKILL);
    cr_expect_eq(rig_reap(process), 128 + SIGKILL);
    rig_wait(&rig, &call);
    cr_expect_eq(call.call.status, 0);
    rig_close(&rig);
    scratch_remove(&scratch);
}

Test(file_process, close_does_not_wait_for_a_stopped_process)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    struct scratch scratch;
    struct rig rig;
    struct rig_call calls[3];
    int process;

    make_file(&scratch);
    process = start_stopped(&scratch);
    rig_open(&rig, scratch.url);
    for (int i = 0; i < 3; i++) {
        rig_call_init(&calls[i], TAKT_OP_TRY, &limit, "k");
        rig_submit(&rig, &calls[i]);
    }
    rig_close(&rig); /* returns, though nothing moves */
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(calls[i].done, 1);
        cr_expect_eq(calls[i].call.status, TAKT_E_CANCELED);
    }
    kill(process, SIGCONT);
    cr_expect_eq(rig_reap(process), 0);
    rig_open(&rig, scratch.url); /* whether the old thread has ended by now or not */
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 100);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    rig_close(&rig);
    scratch_remove(&scratch);
}

Test(file_process, a_stopped_process_that_holds_the_file_while_it_is_made_is_given_up)
{
    struct scratch scratch;
    struct rig rig;
    takt_error error = {0};
    int process;

    scratch_init(&scratch);
    process = start_stopped(
        &scratch); /* LMDB's file, and empty: it has to be written to before it can be used */
    cr_expect_eq(rig_try_open(&rig, scratch.url, "test", 0, &error), TAKT_E_STORE_TIMEOUT);
    cr_expect_not_null(strstr(error.text, "stopped"), "%s", error.text);
    rig_close(&rig);
    kill(process, SIGCONT);
    cr_expect_eq(rig_reap(process), 0);
    rig_open(&rig, scratch.url);
    rig_close(&rig);
    scratch_remove(&scratch);
}

/* ---- forked ---------------------------------------------------------------------------------- */

struct forked {
    struct scratch *scratch;
    struct rig *rig;
    struct rig_call *under_way;
};

/* What a child finds of its parent's store: every call fails, closing works, a store of its own
 * works. */
static int use_after_fork(void *argument)
{
    struct forked *forked = argument;
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct rig own;
    int before;

    if (uv_loop_fork(&forked->rig->loop) != 0)
        return 1;
    if (rig_try(forked->rig, &limit, "k", 1) != TAKT_E_STORE)
        return 2;
    rig_wait(forked->rig, forked->under_way);
    if (forked->under_way->call.status != TAKT_E_STORE)
        return 3;
    rig_close(forked->rig);
    before = scratch_descriptors(forked->scratch);
    rig_open(&own, forked->scratch->url);
    if (scratch_descriptors(forked->scratch) <= before)
        return 4;
    if (rig_try(&own, &limit, "k", 1) != 0)
        return 5;
    rig_close(&own);
    return 0;
}

Test(file_process, a_forked_child_must_open_its_own)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct scratch scratch;
    struct rig rig;
    struct rig_call call;
    struct forked forked = {&scratch, &rig, &call};
    int process;

    scratch_init(&scratch);
    rig_open(&rig, scratch.url);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    rig_call_init(&call, TAKT_OP_TRY, &limit, "k");
    rig_submit(&rig, &call);
    process = rig_fork(use_after_fork, &forked);
    rig_wait(&rig, &call);
    cr_expect_eq(call.call.status, 0);
    cr_expect_eq(rig_reap(process), 0);
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 7);
    rig_close(&rig);
    scratch_remove(&scratch);
}
