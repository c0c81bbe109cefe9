/*
 * fleet.h: a fleet of workers, a network and a store on virtual time.
 *
 * The workers run the scheduler and the pass of lib/scheduler (worker.h); the network (network.h)
 * carries their calls with delays, losses and repetitions; the store runs them as lib/store does
 * (virtual_store.h). The store is one server, or nodes with clocks of their own, on which ledgers
 * lie and between which they move (nodes.h). event.h has virtual time. Hours of traffic take
 * milliseconds, and the same seed gives the same simulation.
 */
#ifndef TAKT_SIMULATE_FLEET_H
#define TAKT_SIMULATE_FLEET_H

#include "scheduler/nest.h"
#include "scheduler/scheduler.h"
#include "shadow/shadow_waiter.h"
#include "simulate/virtual_store.h"

struct takt_sim_event; /* event.h */
typedef struct takt_fleet takt_fleet;
typedef struct takt_fleet_worker takt_fleet_worker;
typedef void (*takt_sim_happen)(takt_fleet *fleet, struct takt_sim_event *event);

/* Of event.c. */
typedef struct takt_sim_events {
    takt_heap planned;
    uint64_t order; /* the number of the next event, which orders events of one instant */
} takt_sim_events;

/* Of worker.c: what can happen to a worker. */
typedef struct takt_sim_happenings {
    takt_sim_happen pass, wake, hint, inner_wake, inner_hint;
} takt_sim_happenings;

#define TAKT_FLEET_NODES_MAX   4
#define TAKT_FLEET_LEDGERS_MAX 3

/* A server of the store. */
typedef struct takt_fleet_node {
    int64_t clock_us; /* how far its clock is ahead of the virtual time, when that begins */
    int drift_ppm;    /* how much faster its clock runs; set before it runs */
    bool down;        /* messages to it are lost */
} takt_fleet_node;

/* The ledger of one key, and the node that has it. */
typedef struct takt_fleet_record {
    takt_virtual_store store;
    int node;
    takt_virtual_store replica; /* its copy, while it lags */
    bool lags;
} takt_fleet_record;

/* Messages that a worker sends or gets together. */
typedef struct takt_sim_trip {
    int64_t sent_at_us, arrives_at_us;
} takt_sim_trip;

struct takt_fleet_worker {
    takt_fleet *fleet;
    int index;
    bool dead;
    int64_t clock_us;    /* how far its monotonic clock is ahead of the virtual time */
    int64_t incarnation; /* grows with each crash; messages to an earlier incarnation are dropped */
    uint64_t name;
    takt_sim_trip trips[2]; /* of nested claims: the answers, the calls */
    takt_scheduler scheduler;
    takt_shadows shadows;
    bool pass_asked;
    int64_t wake_us; /* the next wake-up; TAKT_NEVER: none */

    /* may be set at any time */
    const takt_limit *limit; /* its policy, read when it acquires; at first the fleet's */
    int64_t weight;          /* processes that its claims are for, likewise; 0: one */
    int drift_ppm;  /* how much faster its clock runs than the store's; set before it runs */
    int64_t far_us; /* by so much its messages take longer than those of others */

    /* private */
    int64_t frozen_until_us;
    int64_t connection; /* grows when the worker is cut off */
    bool cut;
    /* by ledger: the last claim until it is finished; the node that has it, as far as is known */
    struct takt_sim_exchange *exchanges[TAKT_FLEET_LEDGERS_MAX];
    int nodes[TAKT_FLEET_LEDGERS_MAX];
};

/* The events that a fleet reports to its user; NULL: not wanted. */
typedef struct takt_fleet_callbacks {
    /* after a claim was decided */
    void (*award)(takt_fleet *fleet, uint64_t worker, const takt_claim *claim,
                  const takt_award *award);
    /* after every call on the store, including claims.  `data` of a SETTLE is the takt_run that is
     * handed back; of a charge it is NULL. */
    void (*call)(takt_fleet *fleet, uint64_t worker, const takt_store_call *call);
    /* before a claim's answer is used; sent_us is by the worker's clock */
    void (*heard)(takt_fleet *fleet, takt_fleet_worker *worker, int ledger, int node,
                  const takt_award *award, int64_t sent_us);
    /* slots that a worker gives back now */
    void (*unused)(takt_fleet *fleet, takt_fleet_worker *worker, int ledger,
                   const takt_run *unused);
    /* a block or its end; before the worker uses it */
    void (*told)(takt_fleet *fleet, takt_fleet_worker *worker, int ledger,
                 const takt_standing *standing);
    /* a granted permit's lease has ended */
    void (*lost)(takt_fleet *fleet, takt_fleet_worker *worker, takt_permit *permit);
    /* a claim got no answer from a node; before the worker uses that */
    void (*failed)(takt_fleet *fleet, takt_fleet_worker *worker, int ledger, int node);
    /* a worker learns that a node no longer has a ledger */
    void (*gone)(takt_fleet *fleet, takt_fleet_worker *worker, int node);
} takt_fleet_callbacks;

struct takt_fleet {
    int64_t now_us; /* virtual time */
    uint64_t random;
    const takt_limit *limit;
    takt_fleet_node nodes[TAKT_FLEET_NODES_MAX];
    int node_count;                                    /* 1: one server, which has no number */
    takt_fleet_record ledgers[TAKT_FLEET_LEDGERS_MAX]; /* of the limit, by key */
    bool replicas; /* an award that no replica has is not answered; may be set at any time */
    takt_fleet_worker *workers;
    int worker_count;

    /* the network, may be set at any time; one way, uniformly distributed */
    int64_t delay_min_us, delay_max_us;
    int lost_per_mille, doubled_per_mille;
    int wakes_lost_per_mille; /* additional loss of wake-ups named by awards */
    int64_t timeout_us;       /* a claim without an answer fails after this time */
    int64_t timer_late_us;    /* workers wake up at most that late */

    /* counts and callbacks */
    int64_t claims, wakes;
    int64_t scripts; /* that claims are sent in, where those of a pass go together */
    takt_fleet_callbacks on;
    void *data;

    /* private */
    int64_t began_us;
    takt_sim_happenings happen;
    takt_sim_events events;
    takt_table inner;   /* the ledgers of inner limits: inner.h */
    bool out_of_memory; /* the fleet has stopped */
};

/* The limit must outlive the fleet; virtual time begins at now_us. 0; or TAKT_E_NOMEM, and
 * nothing needs closing. If memory runs out later, the fleet stops and takt_fleet_run returns
 * TAKT_E_NOMEM. */
int takt_fleet_open(takt_fleet *fleet, const takt_limit *limit, int workers, int64_t now_us,
                    uint64_t seed);
void takt_fleet_close(takt_fleet *fleet);

/* Calls happen(fleet, data) at that virtual time. */
void takt_fleet_at(takt_fleet *fleet, int64_t at_us, void (*happen)(takt_fleet *fleet, void *data),
                   void *data);

/* A worker acquires from a ledger: the permit's cost, priority, callback and data are set;
 * max_wait_us 0: no deadline. */
void takt_fleet_acquire(takt_fleet_worker *worker, int ledger, takt_permit *permit,
                        int64_t max_wait_us);

/* The same for a tenant of that weight; NULL: for none. */
void takt_fleet_acquire_for(takt_fleet_worker *worker, int ledger, takt_permit *permit,
                            int64_t max_wait_us, const char *tenant, int32_t weight);
/* The same for work that is nested. The chain's last limit is the worker's, its last key that of
 * the ledger. `tenant`: NULL where no limit of the chain has `fair`. Without faults of nodes. */
void takt_fleet_acquire_nested(takt_fleet_worker *worker, int ledger, takt_permit *permit,
                               int64_t max_wait_us, const takt_chain *chain, const char *tenant,
                               int32_t weight);
/* Work that is about to acquire so is to pass the limits of another chain, which are in shadow,
 * when it starts. The chain's last key is that of another ledger, which wakes nobody. */
void takt_fleet_pass_shadow(takt_fleet_worker *worker, int ledger, takt_permit *permit,
                            const takt_chain *chain);
void takt_fleet_cancel(takt_fleet_worker *worker, takt_permit *permit);

/* Releases a granted permit. With concurrency its memory is in use until then. */
void takt_fleet_release(takt_fleet_worker *worker, takt_permit *permit);

/* The worker dies at once, without a message; its permits are forgotten. A restart makes a new
 * worker with the same index. Without memory the worker stays dead and the fleet stops. */
void takt_fleet_crash(takt_fleet_worker *worker);
void takt_fleet_restart(takt_fleet_worker *worker);

/* Stops a worker with its timers, callbacks and incoming messages until then; a stopped worker gets
 * the later time. Messages that it has sent arrive. */
void takt_fleet_freeze(takt_fleet_worker *worker, int64_t until_us);

/* Cuts a worker off: messages under way are lost, and its claims fail at once until it is connected
 * again. */
void takt_fleet_cut(takt_fleet_worker *worker, bool cut);

/* Sends a single call to a ledger: TRY, PEEK, BLOCK, PENALIZE, UNBLOCK or RESET. `value` is the
 * cost of a TRY, and for how long a BLOCK or a penalty's block is. */
void takt_fleet_call(takt_fleet_worker *worker, int ledger, takt_op op, int64_t value);

/* The same to the ledger of an inner limit and key beside it: PEEK, BLOCK, UNBLOCK or RESET. */
void takt_fleet_call_inner(takt_fleet_worker *worker, int ledger, const takt_limit *limit,
                           const char *key, takt_op op, int64_t value);

/* Tries once for a cost of 1 at the ledger and at that of an inner limit and key beside it. */
void takt_fleet_try_nested(takt_fleet_worker *worker, int ledger, const takt_limit *limit,
                           const char *key);

/* Settles slots as unused, or work as that many tokens more expensive than its slot. */
void takt_fleet_settle(takt_fleet_worker *worker, int ledger, const takt_run *unused);
void takt_fleet_charge(takt_fleet_worker *worker, int ledger, int64_t tokens);

/* Settles the work of a permit that was for a tenant: it has used so many tokens. */
void takt_fleet_correct(takt_fleet_worker *worker, int ledger, const takt_permit *permit,
                        int64_t tokens, const char *tenant, int32_t weight);

/* The key of a ledger, and the ledger of a key. */
const char *takt_fleet_key(int ledger);
int takt_fleet_ledger_of(const char *key);

/* The ledger as the last call left it. */
const takt_ledger *takt_fleet_ledger(const takt_fleet *fleet, int ledger);

/* The store forgets the ledger. */
void takt_fleet_lose_state(takt_fleet *fleet, int ledger);

/* The replica of a ledger hears of no call from now on, until it is there again, or takes the place
 * of the ledger on another node. */
void takt_fleet_lag(takt_fleet *fleet, int ledger);
void takt_fleet_catch_up(takt_fleet *fleet, int ledger);
void takt_fleet_promote(takt_fleet *fleet, int ledger, int node);

/* The time by the clock of a node at a virtual time, and by that of the node that has a ledger now.
 */
int64_t takt_fleet_node_time(const takt_fleet *fleet, int node, int64_t at_us);
int64_t takt_fleet_ledger_clock(const takt_fleet *fleet, int ledger);

/* The time of a worker's own clock. */
int64_t takt_fleet_clock(const takt_fleet_worker *worker);

/* Runs until until_us (inclusive), or until no event is planned. 0 or TAKT_E_NOMEM. */
int takt_fleet_run(takt_fleet *fleet, int64_t until_us);

#endif
