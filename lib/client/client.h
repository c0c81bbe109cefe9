/*
 * client.h: the driver of the scheduler on a libuv loop: what the files of lib/client share.
 *
 * Whatever happens (a call by the program, an answer of the store, the timer) changes lists and
 * asks for a pass, takt_client_ask.  The pass comes in the same turn of the loop or the next one,
 * never inside a call by the program: so no callback comes before takt_acquire has returned, and
 * callbacks may call any function of the library.
 *
 * The way of a permit:
 *   acquire.c  takt_acquire checks the request, enters the permit into the queue of its limit and
 *              key, and asks for a pass.
 *   pass.c     The scheduler says what to claim; a claim goes to the store.  The answer is an
 * award: slots that the scheduler keeps.  When a slot is due the pass takes a waiter out of the
 * queue.  With `within` it enters the queue of the next outer limit; otherwise its callback comes.
 *   acquire.c  takt_release gives back what the permit holds, and asks for a pass that tells it to
 *              the store.
 * request.c finds the limits that a request names.  call.c has the calls to a ledger that are no
 * acquires (peek, block ...), of which try.c and settle.c are more than one question; follow.c and
 * reload.c have the changes of policy, open.c and close.c begin and end.  client.c is below all of
 * them.
 */
#ifndef TAKT_CLIENT_CLIENT_H
#define TAKT_CLIENT_CLIENT_H

#include <takt/takt.h>
#include <uv.h>

#include "base/fork.h"
#include "client/timer.h"
#include "crypto/key_hash.h"
#include "policy/policy.h"
#include "scheduler/scheduler.h"
#include "shadow/shadow_waiter.h"
#include "store/store.h"

/* How the policy that is in the store is followed: the business of follow.c. */
typedef struct takt_follow {
    bool on;
    bool looking; /* a call is under way */
    takt_store_call call;
    int64_t sent_us;
    takt_policy_exchange exchange; /* what was seen last, also of a policy that was refused */
    uv_timer_t timer;
    takt_policy *loaded; /* all that may still be in use, the newest first */
} takt_follow;

#define TAKT_TOLD_FALLBACK   1U /* since the store was lost */
#define TAKT_TOLD_DIFFERENCE 2U /* since the policy was taken */

struct takt_client {
    uv_loop_t *loop;
    const takt_policy *policy;
    const takt_limit *asked; /* of that policy, the one that was asked for last; NULL: none yet */
    bool renewed;            /* it is not the policy that the client was opened with */
    takt_follow follow;
    takt_options options;
    takt_key_secret key_secret;
    takt_store *store;
    takt_scheduler scheduler;
    takt_shadows shadows; /* what waits in limits in shadow */
    uv_idle_t pass;       /* active: a pass is asked for, before the loop polls */
    uv_check_t pass_soon; /* and as soon as it has polled */
    void (*run_passes)(takt_client *client);
    takt_timer timer;
    struct takt_claiming *spare_claimings; /* pass.c */
    struct takt_calling *spare_calls;      /* call.c */
    takt_link held_tries;                  /* try.c */
    takt_stats stats;
    int claims_in_flight;
    int calls_in_flight;
    bool lost;      /* TAKT_EVENT_STORE_LOST was told, STORE_BACK not yet */
    uint8_t *told;  /* by the policy's limits: TAKT_TOLD_..., events that are sent once */
    unsigned forks; /* when it was opened */
    bool closing;   /* nothing new is taken */
    bool parting;   /* the store is being closed */
    int handles;    /* to be closed */
    takt_close_cb closed;
    void *closed_data;
};

/* Whether this process is a child of the one that the client belongs to. */
static inline bool takt_client_is_forked(const takt_client *client)
{
    return client->forks != takt_fork_count;
}

/* Asks for a pass. */
void takt_client_ask(takt_client *client);

/* The queue of a limit, which may be one of an older policy: where the present one has a limit of
 * that name, it is that one's. */
takt_queue *takt_client_queue(takt_client *client, const takt_limit *limit, const char *key);

void takt_client_tell(takt_client *client, takt_event_type type, int code, const char *text,
                      const char *limit);

/* An event of a limit that is sent once: whether this is the first time.  It counts as told from
 * then on, because whoever is told may reload. */
bool takt_client_tells_first(takt_client *client, const takt_limit *limit, uint8_t what);

/* Whether the client can hash the keys of the policy's limits that say so: 0 or TAKT_E_POLICY. */
int takt_client_check_hashes(const takt_client *client, const takt_policy *policy,
                             takt_error *error);

/* From now on the client goes by that policy: 0 or TAKT_E_NOMEM. */
int takt_client_renew(takt_client *client, const takt_policy *policy);

/* Counts a call that came back, and how long it took where the store answered it. */
void takt_client_count(takt_client *client, int status, int64_t sent_us);

/* Tells when the store is lost and when it is back, going by how a call to it ended. */
void takt_client_note(takt_client *client, int status);

#endif
