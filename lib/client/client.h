/*
 * client.h: drives the scheduler on a libuv loop.  All files of lib/client share this header.
 *
 * Each event (a call by the program, an answer of the store, the timer) changes lists and asks for
 * a pass with takt_client_ask.  The pass runs in the same turn of the loop or in the next one, and
 * never inside a call by the program.  So no callback comes before takt_acquire has returned, and
 * callbacks may call any function of the library.
 *
 * The steps of a permit:
 *   acquire.c  takt_acquire checks the request (request.c).  It finds the queue of the request's
 *              limits and keys (scheduler/path.c), adds the permit to it (scheduler/waiter.c), and
 *              asks for a pass.
 *   pass.c     A pass runs the scheduler (scheduler/driver.c), which looks at each queue that
 *              something has happened to (scheduler/scheduler.c) and says which of them claim
 *              (scheduler/claims.c).  The claim goes to the store (store/store.h).  The answer is
 *              an award: slots that the scheduler keeps (scheduler/scheduler.c).
 *   pass.c     When a slot is due, the timer brings a pass.  The scheduler gives the slot to a
 *              waiter, and the pass calls its callback.  If limits are in shadow, a shadow waiter
 *              begins to wait for them (shadow/shadow.h).
 *   acquire.c  takt_release gives back what the permit holds.  The next pass sends that to the
 *              store.
 *
 * request.c finds the limits that a request names.  call.c has the calls to a ledger that are no
 * acquires (peek, block ...); of these try.c and settle.c may send more than one.  follow.c and
 * reload.c bring another policy, and renew.c changes to it.  events.c has the sentences of events.
 * open.c and close.c begin and end a client.  client.c has the functions that all of them use.
 *
 * docs/design.md ("One acquire in the code") follows these steps through the other folders.
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

/* How the client follows the policy in the store: follow.c. */
typedef struct takt_follow {
    bool on;
    bool looking; /* a call is under way */
    takt_store_call call;
    int64_t sent_us;
    takt_policy_exchange exchange; /* the policy seen last, also a refused one */
    uv_timer_t timer;
    takt_policy *loaded; /* all policies that may still be in use, the newest first */
} takt_follow;

/* A limit that programs behind an agent have brought along (lib/relay). */
typedef struct takt_brought_limit {
    takt_limit limit;
    struct takt_brought_limit *next;
    size_t size;    /* of the numbers */
    char written[]; /* the numbers as they came: equal limits have equal texts */
} takt_brought_limit;

#define TAKT_TOLD_FALLBACK   1U /* since the store was lost */
#define TAKT_TOLD_DIFFERENCE 2U /* since the policy was loaded */

/* Of call.c. */
typedef struct takt_client_calls {
    struct takt_calling *spare;
    int in_flight;
    int detached; /* of these, the calls without a takt_call */
} takt_client_calls;

struct takt_client {
    uv_loop_t *loop;
    const takt_policy *policy;
    const takt_limit *asked; /* the limit of the last acquire, in that policy; NULL: none yet */
    bool renewed;            /* the policy is not the one that the client was opened with */
    takt_follow follow;
    takt_options options;
    takt_key_secret key_secret;
    takt_brought_limit *brought; /* queues refer to them until the client is closed */
    takt_table presences;        /* processes behind an agent that wait (lib/relay); zeros: none */
    takt_store *store;
    takt_scheduler scheduler;
    takt_shadows shadows; /* permits that wait in shadow limits */
    uv_idle_t pass;       /* active: a pass is asked for; it runs before the loop polls */
    uv_check_t pass_soon; /* and as soon as the loop has polled */
    /* takt_pass_run_due, set by open.c: client.c does not include pass.h, which is above it. */
    void (*run_passes)(takt_client *client);
    takt_timer timer;
    struct takt_claiming *spare_claimings; /* pass.c */
    takt_link held_tries;                  /* try.c */
    takt_stats stats;
    int claims_in_flight;
    takt_client_calls calls;
    int lost;           /* servers for which STORE_LOST was sent, STORE_BACK not yet */
    uint8_t *told;      /* by limit of the policy: TAKT_TOLD_..., events that are sent once */
    unsigned forks;     /* number of forks when the client was opened */
    bool closing;       /* the client takes no new requests */
    bool closing_store; /* passes have ended */
    int handles;        /* handles that are still open */
    takt_close_cb closed;
    void *closed_data;
};

/* Whether this process is a child of the process that the client belongs to. */
static inline bool takt_client_is_forked(const takt_client *client)
{
    return client->forks != takt_fork_count;
}

/* Asks for a pass.  Two handles can run it, whichever comes first: `pass` before the loop polls, so
 * that the loop does not sleep; `pass_soon` after it has polled, so that a pass that an answer
 * asked for needs no further turn of the loop. */
void takt_client_ask(takt_client *client);

/* The limit of that name, also one that a program behind an agent has brought along; NULL: none. */
const takt_limit *takt_client_limit(const takt_client *client, const char *name);

/* Returns the queue of a limit and key, and of a tenant with that weight (NULL: none).  The limit
 * may come from an older policy: if the present policy has a limit of that name, the queue uses
 * that one. */
takt_queue *takt_client_queue(takt_client *client, const takt_limit *limit, const char *key,
                              const char *tenant, int32_t weight);

/* Points a claim or a try at the ledgers of a queue.  `inner` has space for all its inner limits.
 */
void takt_client_aim(takt_store_call *call, takt_store_inner *inner, const takt_queue *queue);

void takt_client_tell(takt_client *client, takt_event_type type, int code, const char *text,
                      const char *limit);

/* For an event that is sent once for each limit: returns whether it is still to be sent.  Marks it
 * as sent at once, because the callback may reload the policy. */
bool takt_client_tells_first(takt_client *client, const takt_limit *limit, uint8_t what);

/* Whether the client can hash the keys of all limits that require it: 0 or TAKT_E_POLICY. */
int takt_client_check_hashes(const takt_client *client, const takt_policy *policy,
                             takt_error *error);

/* Makes the client use that policy from now on: 0 or TAKT_E_NOMEM. */
int takt_client_renew(takt_client *client, const takt_policy *policy);

/* Counts a call that came back, and its duration if the store answered. */
void takt_client_count(takt_client *client, int status, int64_t sent_us);

/* Sends the events for a lost server of the store and for its return, according to how a call to it
 * ended. */
void takt_client_note(takt_client *client, int server, int status);

#endif
