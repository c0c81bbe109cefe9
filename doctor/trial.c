/*
 * trial.c: see trial.h. The ledger is unique to this trial, and its limit makes the store create
 * and remove a waiter and a log. The stored policy is only read: the trial offers to replace a
 * version that does not exist, and the store refuses.
 */
#include "doctor/trial.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/time_text.h"
#include "store/policy_record.h"

#define BLOCK_US 1000000 /* long enough to last until UNBLOCK arrives */

/* The operations, in this order. */
enum step {
    TAKE,
    SETTLE, /* gives back the token of TAKE */
    LOWER,  /* to no tokens, so that the next claim waits */
    STAND_IN_LINE,
    LOOK,
    WATCH,
    BLOCK,
    PENALIZE,
    UNBLOCK,
    LEAVE_LINE,
    RESET,
    SEE_POLICY,
    APPLY_POLICY,
    STEPS
};

static const takt_op ops[STEPS] = {TAKT_OP_TRY,     TAKT_OP_SETTLE, TAKT_OP_LOWER, TAKT_OP_CLAIM,
                                   TAKT_OP_PEEK,    TAKT_OP_PEEK,   TAKT_OP_BLOCK, TAKT_OP_PENALIZE,
                                   TAKT_OP_UNBLOCK, TAKT_OP_CLAIM,  TAKT_OP_RESET, TAKT_OP_POLICY,
                                   TAKT_OP_APPLY};

struct trial {
    takt_checkup *checkup;
    takt_store *store;
    takt_limit limit;
    char key[TAKT_CHECKUP_KEY_SIZE];
    char queue[sizeof TAKT_CHECKUP_LIMIT + TAKT_CHECKUP_KEY_SIZE]; /* that of a client would be */
    takt_store_call call;
    takt_claim claim;
    takt_award award;
    takt_policy_exchange exchange;
    enum step step;
    uint64_t began_ns;
    int64_t look_us; /* how long LOOK took */
};

/* One token a minute and a log: the second request waits. */
static int make_limit(takt_limit *limit, takt_error *error)
{
    static const char *const algorithms[] = {"gcra", "sliding-log"};
    int code = 0;

    *limit = (takt_limit){.name = TAKT_CHECKUP_LIMIT,
                          .numbers.rule_count = 2,
                          .numbers.lookahead_us = TAKT_LOOKAHEAD_US};
    for (int i = 0; i < 2 && code == 0; i++) {
        limit->numbers.rules[i] = (takt_rule){
            .algorithm = takt_algorithm_named(algorithms[i]), .limit = 1, .period_us = 60000000};
        code = takt_rule_prepare(&limit->numbers.rules[i], error);
    }
    return code;
}

static void on_done(takt_store_call *call);

static void go_on(struct trial *trial)
{
    if (ops[trial->step] == TAKT_OP_POLICY || ops[trial->step] == TAKT_OP_APPLY) {
        takt_policy_call(&trial->call, ops[trial->step], &trial->exchange);
        trial->call.done = on_done;
        trial->call.data = trial;
    }
    trial->call.op = ops[trial->step];
    /* a look does not watch, and the watch ends at once, so that nothing remains */
    trial->call.for_us = trial->step == LOOK ? 0 : trial->step == WATCH ? 1 : BLOCK_US;
    if (trial->call.op == TAKT_OP_CLAIM) {
        trial->claim.seq++;
        trial->claim.waiting = trial->claim.want_count = trial->step == STAND_IN_LINE;
    }
    trial->began_ns = uv_hrtime();
    takt_store_submit(trial->store, &trial->call);
}

static bool is_expected(enum step step, int status)
{
    return status == 0 || (step == TAKE && status == TAKT_E_NO_SLOT) ||
           (step == APPLY_POLICY && status == TAKT_E_OVERTAKEN);
}

static void on_done(takt_store_call *call)
{
    struct trial *trial = call->data;
    takt_checkup *checkup = trial->checkup;

    if (trial->step == LOOK)
        trial->look_us = (int64_t)((uv_hrtime() - trial->began_ns) / 1000);
    if (trial->step == TAKE)
        call->slot_us = call->standing.now_us;
    if (!is_expected(trial->step, call->status))
        takt_checkup_fail(checkup, call->status, "use", "%s",
                          trial->store->trouble ? trial->store->trouble
                                                : takt_strerror(call->status));
    else if (++trial->step < STEPS)
        go_on(trial);
}

static void on_event(void *data, const takt_event *event)
{
    takt_checkup_tell(data, TAKT_FINDING_WARNING, "damage", "%s", event->text);
}

static void try_all(struct trial *trial, uv_loop_t *loop)
{
    char span[TAKT_SPAN_SIZE];

    int size;

    takt_checkup_key(trial->key);
    size =
        snprintf(trial->queue, sizeof trial->queue, "%s%c%s", TAKT_CHECKUP_LIMIT, '\0', trial->key);
    memcpy(&trial->claim.worker, trial->key, sizeof trial->claim.worker);
    trial->claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, TAKT_PRIORITY_DEFAULT, TAKT_NO_MORE};
    trial->call = (takt_store_call){.limit = &trial->limit,
                                    .numbers = &trial->limit.numbers,
                                    .key = trial->key,
                                    .queue = trial->queue,
                                    .queue_size = (size_t)size,
                                    .claim = &trial->claim,
                                    .award = &trial->award,
                                    .cost = 1,
                                    .done = on_done,
                                    .data = trial};
    /* the version that APPLY claims to replace: no policy was stored at that time */
    trial->exchange.seen_version = trial->exchange.seen_at_us = 1;
    trial->exchange.text = "";
    go_on(trial);
    uv_run(loop, UV_RUN_DEFAULT);
    if (trial->step == STEPS)
        takt_checkup_tell(trial->checkup, TAKT_FINDING_GOOD, "use",
                          "every operation of takt was tried and works; a peek took %s",
                          takt_format_span(trial->look_us, span));
    takt_store_close(trial->store, NULL, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
}

void takt_doctor_trial(takt_checkup *checkup)
{
    takt_store_options options = {.name_space = checkup->name_space,
                                  .timeout_us = checkup->timeout_us,
                                  .on_event = on_event,
                                  .data = checkup};
    struct trial *trial = calloc(1, sizeof *trial); /* too large for some stacks */
    takt_error error = {0};
    uv_loop_t loop;
    int code;

    if (trial == NULL || uv_loop_init(&loop) != 0) {
        takt_checkup_fail(checkup, TAKT_E_NOMEM, "use", "%s", takt_strerror(TAKT_E_NOMEM));
        free(trial);
        return;
    }
    trial->checkup = checkup;
    code = make_limit(&trial->limit, &error);
    if (code == 0)
        code = takt_store_open(&trial->store, &loop, checkup->url, &options, &error);
    if (code == 0)
        try_all(trial, &loop);
    else
        takt_checkup_fail(checkup, code, "use", "%s", error.text);
    uv_run(&loop, UV_RUN_DEFAULT); /* closes what a failed opening has left */
    uv_loop_close(&loop);
    free(trial->exchange.kept);
    free(trial);
}
