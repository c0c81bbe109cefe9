/*
 * rig.h: a store on a loop of its own, for tests: calls that are waited for, events that are
 * counted, files in a scratch directory.
 */
#ifndef TAKT_TESTS_STORE_RIG_H
#define TAKT_TESTS_STORE_RIG_H

#include <limits.h>

#include <uv.h>

#include "store/store.h"

struct rig {
    uv_loop_t loop;
    takt_store *store;
    int replaced, damaged; /* events */
    char text[TAKT_ERROR_TEXT_SIZE];
    bool closed;
};

/* A call with its claim and award, and whether it has come back. */
struct rig_call {
    takt_store_call call;
    takt_claim claim;
    takt_award award;
    int done;
};

#define RIG_DAY INT64_C(86400000000)

/* A limit of one rule. */
takt_limit rig_limit(const char *name, int64_t tokens, int64_t period_us, int64_t burst);

/* Returns takt_store_open's code; the loop is to be closed with rig_close in any case. */
int rig_try_open(struct rig *rig, const char *url, const char *name_space, int64_t timeout_us,
                 takt_error *error);

/* Must not fail. */
void rig_open(struct rig *rig, const char *url);
void rig_close(struct rig *rig);

/* Prepare a call; rig_submit submits it, rig_wait runs the loop until it is back. */
void rig_call_init(struct rig_call *call, takt_op op, const takt_limit *limit, const char *key);
void rig_call_done(takt_store_call *call); /* done() of a call whose data is the rig_call */
void rig_submit(struct rig *rig, struct rig_call *call);
void rig_wait(struct rig *rig, struct rig_call *call);

/* A whole call: its status. */
int rig_run(struct rig *rig, struct rig_call *call);
int rig_try(struct rig *rig, const takt_limit *limit, const char *key, int64_t cost);

/* Takes one token of each of so many ledgers ("key-FROM", ...), all at once; returns how many came
 * back with `status`. */
int rig_take_each(struct rig *rig, const takt_limit *limit, int from, int count, int status);

takt_standing rig_peek(struct rig *rig, const takt_limit *limit, const char *key);

/* A scratch directory, removed with all in it by rig_remove. */
void rig_directory(char path[PATH_MAX]);
void rig_remove(const char *path);

/* Runs `work` in another process before this one has opened anything there; rig_reap is its exit
 * status. */
int rig_fork(int (*work)(void *argument), void *argument);
int rig_reap(int process);

#endif
