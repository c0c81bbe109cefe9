/*
 * sync_calls.c: the functions of takt/sync.h.  Each runs its counterpart of takt/takt.h on the
 * loop's thread and waits for the answer.
 */
#include "base/fail.h"
#include "client/call.h"
#include "client/sync.h"

/* A question to the loop's thread.  Each function uses some of the fields. */
typedef struct question {
    takt_sync_post post; /* first */
    takt_permit *permit;
    const takt_permit *held; /* for takt_sync_is_held */
    const takt_request *request;
    const takt_amount *used;
    int count; /* of them */
    takt_call_kind kind;
    const char *limit, *key, *text;
    int64_t number;
    takt_standing *standing;
    takt_stats *stats;
    takt_shadow *shadow;
    const takt_policy *policy;
    takt_error *error;
    takt_call call;
    void *data; /* the permit's own `data`, replaced while the permit waits */
} question;

/* ---- on the loop's thread -------------------------------------------------------------------- */

static question *question_of(takt_sync_post *post)
{
    return (question *)post;
}

static void acquired(takt_permit *permit, int status)
{
    question *asked = permit->data;

    permit->data = asked->data;
    takt_sync_answer(&asked->post, status);
}

static void called(takt_call *call, int status, const takt_standing *standing)
{
    question *asked = call->data;

    if (standing && asked->standing) {
        *asked->standing = *standing;
        asked->standing->tenants = NULL; /* they are gone when this returns */
        asked->standing->tenant_count = 0;
    }
    takt_sync_answer(&asked->post, status);
}

static int later(int code)
{
    return code < 0 ? code : TAKT_SYNC_LATER;
}

static int run_acquire(takt_client *client, takt_sync_post *post)
{
    question *asked = question_of(post);
    int code = takt_acquire(client, asked->permit, asked->request, acquired);

    if (code == 0) { /* otherwise another thread may be waiting for it */
        asked->data = asked->permit->data;
        asked->permit->data = asked;
    }
    return later(code);
}

static int run_try(takt_client *client, takt_sync_post *post)
{
    question *asked = question_of(post);

    asked->call.data = asked;
    return later(takt_try_acquire(client, &asked->call, asked->permit, asked->request, called));
}

static int run_call(takt_client *client, takt_sync_post *post)
{
    question *asked = question_of(post);

    asked->call.data = asked;
    return later(takt_call_ask(client, &asked->call, asked->kind, asked->limit, asked->key,
                               asked->number, asked->text, called));
}

/* A permit that another thread waits for is cancelled and not dropped, so that its thread
 * returns. */
static int run_release(takt_client *client, takt_sync_post *post)
{
    question *asked = question_of(post);

    (void)client;
    if (asked->permit->state == TAKT_PERMIT_GRANTED)
        takt_release(asked->permit);
    else
        (void)takt_cancel(asked->permit);
    return 0;
}

static int run_settle(takt_client *client, takt_sync_post *post)
{
    question *asked = question_of(post);

    (void)client;
    return takt_settle(asked->permit, asked->request, asked->used, asked->count);
}

static int run_is_held(takt_client *client, takt_sync_post *post)
{
    question *asked = question_of(post);

    (void)client;
    return takt_is_held(asked->held);
}

static int run_get_stats(takt_client *client, takt_sync_post *post)
{
    question *asked = question_of(post);

    takt_get_stats(client, asked->stats);
    return 0;
}

static int run_get_shadow(takt_client *client, takt_sync_post *post)
{
    question *asked = question_of(post);

    return takt_get_shadow(client, asked->limit, asked->shadow);
}

static int run_reload(takt_client *client, takt_sync_post *post)
{
    question *asked = question_of(post);

    return takt_reload(client, asked->policy, asked->error);
}

/* ---- on the callers' threads ----------------------------------------------------------------- */

int takt_sync_acquire(takt_sync *sync, takt_permit *permit, const takt_request *request)
{
    question asked = {.post.run = run_acquire, .permit = permit, .request = request};

    return sync && permit && request ? takt_sync_ask(sync, &asked.post) : TAKT_E_INVALID;
}

void takt_sync_release(takt_sync *sync, takt_permit *permit)
{
    question asked = {.post.run = run_release, .permit = permit};

    if (sync && permit)
        (void)takt_sync_ask(sync, &asked.post);
}

int takt_sync_settle(takt_sync *sync, takt_permit *permit, const takt_request *request,
                     const takt_amount *used, int count)
{
    question asked = {
        .post.run = run_settle, .permit = permit, .request = request, .used = used, .count = count};

    return sync && permit && request ? takt_sync_ask(sync, &asked.post) : TAKT_E_INVALID;
}

int takt_sync_reload(takt_sync *sync, const takt_policy *policy, takt_error *error)
{
    question asked = {.post.run = run_reload, .policy = policy, .error = error};

    if (!sync || !policy)
        return takt_fail(error, TAKT_E_INVALID, "takt_sync_reload: both are required");
    return takt_sync_ask(sync, &asked.post);
}

int takt_sync_try_acquire(takt_sync *sync, takt_permit *permit, const takt_request *request,
                          takt_standing *standing)
{
    question asked = {
        .post.run = run_try, .permit = permit, .request = request, .standing = standing};

    return sync && request && permit ? takt_sync_ask(sync, &asked.post) : TAKT_E_INVALID;
}

static int ask_call(takt_sync *sync, takt_call_kind kind, const char *limit, const char *key,
                    int64_t number, const char *text, takt_standing *standing)
{
    question asked = {.post.run = run_call,
                      .kind = kind,
                      .limit = limit,
                      .key = key,
                      .number = number,
                      .text = text,
                      .standing = standing};

    return sync ? takt_sync_ask(sync, &asked.post) : TAKT_E_INVALID;
}

int takt_sync_peek(takt_sync *sync, const char *limit, const char *key, takt_standing *standing)
{
    return ask_call(sync, TAKT_CALL_PEEK, limit, key, 0, NULL, standing);
}

int takt_sync_watch(takt_sync *sync, const char *limit, const char *key, int64_t for_us,
                    takt_standing *standing)
{
    return ask_call(sync, TAKT_CALL_WATCH, limit, key, for_us, NULL, standing);
}

int takt_sync_block(takt_sync *sync, const char *limit, const char *key, int64_t for_us,
                    const char *reason, takt_standing *standing)
{
    return ask_call(sync, TAKT_CALL_BLOCK, limit, key, for_us, reason, standing);
}

int takt_sync_penalize(takt_sync *sync, const char *limit, const char *key, int64_t for_us,
                       const char *reason, takt_standing *standing)
{
    return ask_call(sync, TAKT_CALL_PENALIZE, limit, key, for_us, reason, standing);
}

int takt_sync_lower(takt_sync *sync, const char *limit, const char *key, const char *unit,
                    int64_t remaining, takt_standing *standing)
{
    return ask_call(sync, TAKT_CALL_LOWER, limit, key, remaining, unit, standing);
}

int takt_sync_unblock(takt_sync *sync, const char *limit, const char *key, takt_standing *standing)
{
    return ask_call(sync, TAKT_CALL_UNBLOCK, limit, key, 0, NULL, standing);
}

int takt_sync_reset(takt_sync *sync, const char *limit, const char *key, takt_standing *standing)
{
    return ask_call(sync, TAKT_CALL_RESET, limit, key, 0, NULL, standing);
}

int takt_sync_is_held(takt_sync *sync, const takt_permit *permit)
{
    question asked = {.post.run = run_is_held, .held = permit};

    return sync && permit && takt_sync_ask(sync, &asked.post) == 1;
}

int takt_sync_get_stats(takt_sync *sync, takt_stats *stats)
{
    question asked = {.post.run = run_get_stats, .stats = stats};

    return sync && stats ? takt_sync_ask(sync, &asked.post) : TAKT_E_INVALID;
}

int takt_sync_get_shadow(takt_sync *sync, const char *limit, takt_shadow *shadow)
{
    question asked = {.post.run = run_get_shadow, .limit = limit, .shadow = shadow};

    return sync && limit && shadow ? takt_sync_ask(sync, &asked.post) : TAKT_E_INVALID;
}
