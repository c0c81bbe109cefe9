/*
 * doctor_use.c: every operation of takt, tried on a ledger that nobody else uses: what the store
 * says of itself does not matter where this fails.  The limit is such that a place in line and a
 * log come into being, and go again.
 */
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "store/doctor.h"
#include "store/policy_record.h"

/* What is done, in this order. */
enum step {
    TAKE,
    STAND_IN_LINE,
    LOOK,
    BLOCK,
    PENALIZE,
    UNBLOCK,
    LEAVE_LINE,
    RESET,
    SEE_POLICY,
    STEPS
};

static const takt_op ops[STEPS] = {TAKT_OP_TRY,   TAKT_OP_CLAIM,    TAKT_OP_PEEK,
                                   TAKT_OP_BLOCK, TAKT_OP_PENALIZE, TAKT_OP_UNBLOCK,
                                   TAKT_OP_CLAIM, TAKT_OP_RESET,    TAKT_OP_POLICY};

struct use {
    takt_checkup *checkup;
    takt_store *store;
    takt_limit limit;
    char key[TAKT_CHECKUP_KEY_SIZE];
    takt_store_call call;
    takt_claim claim;
    takt_award award;
    takt_policy_talk talk;
    enum step step;
    uint64_t began_ns;
    int64_t look_us; /* how long LOOK took */
};

/* One token a minute, and a log: who asks for a second one waits. */
static int make_limit(takt_limit *limit, takt_error *error)
{
    static const char *const algorithms[] = {"gcra", "sliding-log"};
    int code = 0;

    *limit = (takt_limit){
        .name = TAKT_CHECKUP_LIMIT, .rule_count = 2, .lookahead_us = TAKT_LOOKAHEAD_US};
    for (int i = 0; i < 2 && code == 0; i++) {
        limit->rules[i] = (takt_rule){
            .algorithm = takt_algorithm_named(algorithms[i]), .limit = 1, .period_us = 60000000};
        code = takt_rule_prepare(&limit->rules[i], error);
    }
    return code;
}

static void on_done(takt_store_call *call);

static void go_on(struct use *use)
{
    if (use->step == SEE_POLICY) {
        takt_policy_call(&use->call, TAKT_OP_POLICY, &use->talk);
        use->call.done = on_done;
        use->call.data = use;
    }
    use->call.op = ops[use->step];
    use->call.for_us = use->step == LOOK ? 0 : 1000000; /* a look, not a watch */
    if (use->call.op == TAKT_OP_CLAIM) {
        use->claim.seq++;
        use->claim.waiting = use->claim.want_count = use->step == STAND_IN_LINE;
    }
    use->began_ns = uv_hrtime();
    takt_store_submit(use->store, &use->call);
}

static void on_done(takt_store_call *call)
{
    struct use *use = call->data;
    takt_checkup *checkup = use->checkup;

    if (use->step == LOOK)
        use->look_us = (int64_t)((uv_hrtime() - use->began_ns) / 1000);
    if (call->status != 0 && call->status != TAKT_E_NO_SLOT)
        takt_checkup_fail(checkup, call->status, "use", "%s",
                          use->store->trouble ? use->store->trouble : takt_strerror(call->status));
    else if (++use->step < STEPS)
        go_on(use);
}

static void on_event(void *data, const takt_event *event)
{
    takt_checkup_tell(data, TAKT_FINDING_WARNING, "damage", "%s", event->text);
}

static void try_all(struct use *use, uv_loop_t *loop)
{
    char span[TAKT_CHECKUP_SPAN_SIZE];

    takt_checkup_key(use->key);
    memcpy(&use->claim.worker, use->key, sizeof use->claim.worker);
    use->claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, TAKT_PRIORITY_DEFAULT};
    use->call = (takt_store_call){.limit = &use->limit,
                                  .key = use->key,
                                  .claim = &use->claim,
                                  .award = &use->award,
                                  .cost = 1,
                                  .done = on_done,
                                  .data = use};
    go_on(use);
    uv_run(loop, UV_RUN_DEFAULT);
    if (use->step == STEPS)
        takt_checkup_tell(use->checkup, TAKT_FINDING_GOOD, "use",
                          "every operation of takt was tried and works; a look took %s",
                          takt_checkup_span(use->look_us, span));
    takt_store_close(use->store, NULL, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
}

void takt_checkup_use(takt_checkup *checkup, const char *url)
{
    takt_store_options options = {.name_space = checkup->name_space,
                                  .timeout_us = checkup->timeout_us,
                                  .on_event = on_event,
                                  .data = checkup};
    struct use *use = calloc(1, sizeof *use); /* a claim is too large for some stacks */
    takt_error error = {0};
    uv_loop_t loop;
    int code;

    if (use == NULL || uv_loop_init(&loop) != 0) {
        takt_checkup_fail(checkup, TAKT_E_NOMEM, "use", "%s", takt_strerror(TAKT_E_NOMEM));
        free(use);
        return;
    }
    use->checkup = checkup;
    code = make_limit(&use->limit, &error);
    if (code == 0)
        code = takt_store_open(&use->store, &loop, url, &options, &error);
    if (code == 0)
        try_all(use, &loop);
    else
        takt_checkup_fail(checkup, code, "use", "%s", error.text);
    uv_run(&loop, UV_RUN_DEFAULT); /* what a failed opening has left to close */
    uv_loop_close(&loop);
    free(use->talk.kept);
    free(use);
}
