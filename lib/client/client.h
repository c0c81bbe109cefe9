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
 * errand.c has the calls that are no acquires (try, peek, block, settle ...), follow.c and reload.c
 * the changes of policy, open.c and close.c begin and end.  client.c is below all of them.
 */
#ifndef TAKT_CLIENT_CLIENT_H
#define TAKT_CLIENT_CLIENT_H

#include <takt/takt.h>
#include <uv.h>

#include "base/fork.h"
#include "client/timer.h"
#include "policy/policy.h"
#include "scheduler/scheduler.h"
#include "store/store.h"

/* A claim under way: its memory is used again and again. */
typedef struct takt_claiming {
    takt_store_call call; /* first */
    takt_claim claim;
    takt_award award;
    takt_client *client;
    takt_queue *queue;
    int64_t sent_us;
    struct takt_claiming *next; /* among the spare ones */
} takt_claiming;

/* What a takt_call asks for, on its way through one or more limits. */
typedef struct takt_errand {
    takt_store_call call; /* first */
    takt_client *client;
    takt_call *owner;
    const takt_limit *limit; /* the innermost */
    const takt_limit *first; /* the one that a try takes from first */
    bool looking;            /* try with `within`: only peeking yet */
    bool blind;              /* a limit in shadow was passed though the store failed */
    bool given;              /* try with `within`: a limit that holds has given the cost, and ... */
    takt_standing tightest;  /* ... of those that have, the one that leaves least stands so */
    char keys[TAKT_LEVELS_MAX][TAKT_KEY_SIZE_MAX + 1]; /* the innermost limit's first */
    char reason[TAKT_REASON_SIZE_MAX + 1];
    int64_t sent_us;
    struct takt_errand *next; /* among the spare ones */

    /* a try where there are permits */
    takt_permit *permit; /* which gets them; may be NULL where there are none */
    takt_queue *queue;   /* that it is the business of; NULL: no permits */
    takt_claim claim;
    takt_award award;
    takt_link link; /* among those that a claim under way holds up */
} takt_errand;

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

struct takt_client {
    uv_loop_t *loop;
    const takt_policy *policy;
    const takt_limit *asked; /* of that policy, the one that was asked for last; NULL: none yet */
    bool renewed;            /* it is not the policy that the client was opened with */
    takt_follow follow;
    takt_options options;
    takt_store *store;
    takt_scheduler scheduler;
    uv_idle_t pass;       /* active: a pass is asked for, before the loop polls */
    uv_check_t pass_soon; /* and as soon as it has polled */
    void (*run_passes)(takt_client *client);
    takt_timer timer;
    takt_claiming *spare_claimings;
    takt_errand *spare_errands;
    takt_link held_errands;
    takt_stats stats;
    int claims_in_flight;
    int errands_in_flight;
    bool lost;      /* TAKT_EVENT_STORE_LOST was told, STORE_BACK not yet */
    bool *fallen;   /* by the policy's limits: since then TAKT_EVENT_FALLBACK was told */
    unsigned forks; /* when it was opened */
    bool closing;   /* nothing new is taken */
    bool parting;   /* the store is being closed */
    int handles;    /* to be closed */
    takt_close_cb closed;
    void *closed_data;
};

/* A permit comes to a limit: it waits there, or passes it in shadow. */
void takt_client_enter(takt_client *client, takt_queue *queue, takt_permit *permit);

/* Hands back slots that nobody here waits for any more. */
void takt_client_hand_back(takt_client *client, const takt_queue *queue, const takt_run *unused);

/* Sends what the real cost of a shadow waiter's work changes. */
void takt_client_settle_ghost(takt_client *client, const takt_shadow_waiter *shadow_waiter);

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

/* Which store, and what of its options follows from the client's and the policy. */
const char *takt_client_store_url(const takt_options *options, const takt_policy *policy);
takt_store_options takt_client_store_options(const takt_options *options,
                                             const takt_policy *policy);

/* ---- reload.c and follow.c ------------------------------------------------------------------- */

/* From now on the client goes by that policy: 0 or TAKT_E_NOMEM. */
int takt_client_renew(takt_client *client, const takt_policy *policy);

/* Reads the policy that `place` says is in the store, which becomes the client's.  Blocks, at most
 * for the store's timeout. */
int takt_follow_open(takt_client *client, const takt_policy *place, takt_error *error);

/* The client is open: looks for a newer policy from now on, if it follows any. */
void takt_follow_begin(takt_client *client);
void takt_follow_stop(takt_client *client);

/* Looks now. */
void takt_follow_look(takt_client *client);

/* The client is closed. */
void takt_follow_close(takt_client *client);

/* Sends the errands that a claim under way has held up. */
void takt_client_send_held(takt_client *client);

/* Counts a call that came back, and how long it took where the store answered it. */
void takt_client_count(takt_client *client, int status, int64_t sent_us);

/* Tells when the store is lost and when it is back, going by how a call to it ended. */
void takt_client_note(takt_client *client, int status);

/* Finds a request's limit and checks it: 0 or a code and its words. */
int takt_client_check(const takt_policy *policy, const takt_limit *hint,
                      const takt_request *request, const takt_limit **limit, takt_error *error);

/* The key of a limit on the request's way: level 0 is the innermost. */
const char *takt_client_key(const takt_request *request, int level);

#endif
