/*
 * rig.c: see rig.h.
 */
#include "store/rig.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Also for programs without Criterion. */
static void must(bool holds, const char *what, const char *text)
{
    if (holds)
        return;
    fprintf(stderr, "rig: %s: %s\n", what, text);
    abort();
}

takt_limit rig_limit(const char *name, int64_t tokens, int64_t period_us, int64_t burst)
{
    takt_limit limit = {.numbers.rule_count = 1, .numbers.lookahead_us = TAKT_LOOKAHEAD_US};
    takt_error error = {0};

    snprintf(limit.name, sizeof limit.name, "%s", name);
    limit.numbers.rules[0] = (takt_rule){.algorithm = takt_algorithm_named("gcra"),
                                         .limit = tokens,
                                         .period_us = period_us,
                                         .burst = burst};
    must(takt_rule_prepare(&limit.numbers.rules[0], &error) == 0, "rule", error.text);
    return limit;
}

static void on_event(void *data, const takt_event *event)
{
    struct rig *rig = data;

    rig->replaced += event->type == TAKT_EVENT_STORE_REPLACED;
    rig->damaged += event->type == TAKT_EVENT_LEDGER_DAMAGED;
    snprintf(rig->text, sizeof rig->text, "%s", event->text);
}

int rig_try_open(struct rig *rig, const char *url, const char *name_space, int64_t timeout_us,
                 takt_error *error)
{
    takt_store_options options = {
        .name_space = name_space, .timeout_us = timeout_us, .on_event = on_event, .data = rig};

    memset(rig, 0, sizeof *rig);
    uv_loop_init(&rig->loop);
    return takt_store_open(&rig->store, &rig->loop, url, &options, error);
}

void rig_open(struct rig *rig, const char *url)
{
    takt_error error = {0};
    int code;

    while ((code = rig_try_open(rig, url, "test", 30000000, &error)) == TAKT_E_STORE_TIMEOUT)
        rig_close(rig); /* a disk may be busy for longer than an opener waits */
    must(code == 0, url, error.text);
}

static void on_closed(void *data)
{
    ((struct rig *)data)->closed = true;
}

void rig_close(struct rig *rig)
{
    if (rig->store != NULL) {
        takt_store_close(rig->store, on_closed, rig);
        must(!rig->closed, "close", "called back inside the call");
        uv_run(&rig->loop, UV_RUN_DEFAULT);
        must(rig->closed, "close", "did not call back");
    }
    must(uv_loop_close(&rig->loop) == 0, "close", "something was left on the loop");
}

void rig_call_done(takt_store_call *call)
{
    ((struct rig_call *)call->data)->done++;
}

void rig_call_init(struct rig_call *call, takt_op op, const takt_limit *limit, const char *key)
{
    memset(call, 0, sizeof *call);
    call->call = (takt_store_call){.op = op,
                                   .limit = limit,
                                   .numbers = limit ? &limit->numbers : NULL,
                                   .key = key,
                                   .claim = &call->claim,
                                   .award = &call->award,
                                   .cost = 1,
                                   .done = rig_call_done,
                                   .data = call};
}

void rig_submit(struct rig *rig, struct rig_call *call)
{
    call->done = 0;
    takt_store_submit(rig->store, &call->call);
    must(call->done == 0, "submit", "answered inside the call");
}

void rig_wait(struct rig *rig, struct rig_call *call)
{
    while (call->done == 0)
        must(uv_run(&rig->loop, UV_RUN_ONCE) != 0 || call->done > 0, "wait",
             "the loop ended before the call did");
    must(call->done == 1, "wait", "came back twice");
}

int rig_run(struct rig *rig, struct rig_call *call)
{
    rig_submit(rig, call);
    rig_wait(rig, call);
    return call->call.status;
}

int rig_try(struct rig *rig, const takt_limit *limit, const char *key, int64_t cost)
{
    struct rig_call call;

    rig_call_init(&call, TAKT_OP_TRY, limit, key);
    call.call.cost = cost;
    return rig_run(rig, &call);
}

takt_standing rig_peek(struct rig *rig, const takt_limit *limit, const char *key)
{
    struct rig_call call;

    rig_call_init(&call, TAKT_OP_PEEK, limit, key);
    must(rig_run(rig, &call) == 0, "peek", takt_strerror(call.call.status));
    return call.call.standing;
}

/* Takes one token of each of so many ledgers, all at once; returns how many came back with
 * `status`. */
int rig_take_each(struct rig *rig, const takt_limit *limit, int from, int count, int status)
{
    struct rig_call *calls = calloc((size_t)count, sizeof *calls);
    char(*keys)[16] = calloc((size_t)count, sizeof *keys);
    int matched = 0;

    for (int i = 0; i < count; i++) {
        snprintf(keys[i], sizeof keys[i], "key-%d", from + i);
        rig_call_init(&calls[i], TAKT_OP_TRY, limit, keys[i]);
        rig_submit(rig, &calls[i]);
    }
    for (int i = 0; i < count; i++) {
        rig_wait(rig, &calls[i]);
        matched += calls[i].call.status == status;
    }
    free(keys);
    free(calls);
    return matched;
}

void rig_directory(char path[PATH_MAX])
{
    const char *under = getenv("TMPDIR");

    snprintf(path, PATH_MAX, "%.1000s/takt-test-XXXXXX", under && *under ? under : "/tmp");
    must(mkdtemp(path) != NULL, "mkdtemp", path);
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

void rig_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int rig_fork(int (*work)(void *argument), void *argument)
{
    pid_t process;

    fflush(NULL);
    process = fork();
    must(process >= 0, "fork", "failed");
    if (process == 0)
        _exit(work(argument));
    return process;
}

int rig_reap(int process)
{
    int status;

    must(waitpid(process, &status, 0) == process, "waitpid", "failed");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
