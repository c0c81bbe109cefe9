/*
 * fleet.h: a fleet of workers, a network and a store on virtual time.
 *
 * The workers run the very scheduler and pass of lib/scheduler and the store the very ledger of
 * lib/core; beside them are only what a pass sends (fleet.c), the network (network.h), with delays,
 * losses and repetitions as asked for, and virtual time (event.h).  Hours of traffic pass in
 * milliseconds, and the same seed gives the same simulation.
 */
#ifndef TAKT_SIMULATE_FLEET_H
#define TAKT_SIMULATE_FLEET_H

#include "base/memory_pages.h"
#include "scheduler/scheduler.h"
#include "shadow/shadow_waiter.h"

struct takt_sim_event; /* event.h */
typedef struct takt_fleet takt_fleet;
typedef struct takt_fleet_worker takt_fleet_worker;
typedef void (*takt_sim_happen)(takt_fleet *fleet, struct takt_sim_event *event);

struct takt_fleet_worker {
    takt_fleet *fleet;
    int index;
    bool dead;
    int64_t clock_us;    /* its monotonic clock is that much ahead of the virtual time */
    int64_t incarnation; /* grows with each crash: what was meant for an earlier one is lost */
    uint64_t name;
    takt_scheduler scheduler;
    takt_shadows shadows;
    bool pass_asked;
    int64_t wake_us; /* the wake-up that is set; TAKT_NEVER: none */

    /* to be set at will */
    const takt_limit *limit; /* its policy: read when it asks; the fleet's at first */
    int drift_ppm; /* its clock runs that much faster than the store's; set before it runs */

    /* private */
    int64_t frozen_until_us;
    int64_t connection; /* grows when it is cut off */
    bool cut;
    struct takt_sim_exchange *exchange; /* the last claim, while it is not finished */
};

/* What can be asked of the ledger. */
typedef enum takt_sim_op {
    TAKT_SIM_CLAIM,
    TAKT_SIM_TRY,
    TAKT_SIM_PEEK,
    TAKT_SIM_SETTLE, /* slots that are handed back */
    TAKT_SIM_CHARGE, /* work that cost more than its slot took */
    TAKT_SIM_BLOCK,
    TAKT_SIM_PENALIZE,
    TAKT_SIM_UNBLOCK,
    TAKT_SIM_RESET
} takt_sim_op;

/* One call as the store sees it. */
typedef struct takt_sim_call {
    takt_sim_op op;
    uint64_t worker;
    const takt_numbers *numbers; /* of the worker that calls */
    int64_t now_us;              /* by the store's clock, when it is run */

    const takt_claim *claim; /* CLAIM */
    takt_award *award;

    int64_t cost; /* TRY, CHARGE */
    bool granted;
    int64_t retry_at_us;
    takt_run unused;        /* SETTLE */
    int64_t for_us;         /* BLOCK */
    takt_standing standing; /* all but CLAIM */
} takt_sim_call;

struct takt_fleet {
    int64_t now_us;         /* virtual time */
    int64_t store_clock_us; /* the store's clock is that much ahead of it */
    uint64_t random;
    const takt_limit *limit;
    takt_ledger ledger;
    takt_memory_pages pages; /* of its logs */
    takt_fleet_worker *workers;
    int worker_count;

    /* the network, to be set at will; one way, uniformly between least and most */
    int64_t delay_min_us, delay_max_us;
    int lost_per_mille, doubled_per_mille;
    int wakes_lost_per_mille; /* of the wake-ups that awards name, besides */
    bool store_down;          /* what arrives at the store is lost, claims fail */
    int64_t timeout_us;       /* after which a claim without an answer has failed */

    /* what happened */
    int64_t claims, wakes;
    void (*on_award)(takt_fleet *fleet, uint64_t worker, const takt_claim *claim,
                     const takt_award *award);
    void (*on_call)(takt_fleet *fleet,
                    const takt_sim_call *call); /* after every call, of a claim too */
    void (*on_heard)(takt_fleet *fleet, takt_fleet_worker *worker, const takt_award *award,
                     int64_t sent_us); /* before it counts; sent by the worker's clock */
    void (*on_unused)(takt_fleet *fleet, takt_fleet_worker *worker,
                      const takt_run *unused); /* slots that a worker hands back now */
    void (*on_told)(takt_fleet *fleet, takt_fleet_worker *worker,
                    const takt_standing *standing); /* a block, or an end of one; likewise */
    void (*on_lost)(takt_fleet *fleet, takt_fleet_worker *worker,
                    takt_permit *permit); /* a granted permit is its worker's no more */
    void (*on_failed)(takt_fleet *fleet,
                      takt_fleet_worker *worker); /* a claim had no answer; before it counts */
    int64_t damaged;                              /* texts that could not be read */
    void *data;

    /* the ledger between calls */
    bool unwritten; /* keep it as it is instead of as text: quicker, and less like production; set
                       at the start */
    char *text;     /* text_size 0: there is none */
    size_t text_size, text_capacity;
    int64_t expires_at_us; /* from then on the text is gone */
    takt_numbers kept;     /* the numbers that it refers to */

    /* private */
    int64_t began_us;
    takt_sim_happen pass; /* of a worker */
    takt_heap events;
    uint64_t order;     /* events of one instant happen in the order in which they were planned */
    bool out_of_memory; /* the fleet has stopped */
};

/* The limit must outlive the fleet; virtual time begins at now_us.  0 or TAKT_E_NOMEM, which leaves
 * nothing to close.  Without memory later, the fleet stops, and takt_fleet_run says so. */
int takt_fleet_open(takt_fleet *fleet, const takt_limit *limit, int workers, int64_t now_us,
                    uint64_t seed);
void takt_fleet_close(takt_fleet *fleet);

/* Calls happen(fleet, data) at that virtual time. */
void takt_fleet_at(takt_fleet *fleet, int64_t at_us, void (*happen)(takt_fleet *fleet, void *data),
                   void *data);

/* A worker's permit begins to wait: cost, priority, callback and data are set; max_wait_us 0: no
 * deadline. */
void takt_fleet_acquire(takt_fleet_worker *worker, takt_permit *permit, int64_t max_wait_us);
void takt_fleet_cancel(takt_fleet_worker *worker, takt_permit *permit);

/* A granted permit's work is done.  With concurrency its memory is in use until then. */
void takt_fleet_release(takt_fleet_worker *worker, takt_permit *permit);

/* Dies at once, without a word; its permits are forgotten.  A restarted one is a new worker in the
 * same place; without memory it stays dead, and the fleet stops. */
void takt_fleet_crash(takt_fleet_worker *worker);
void takt_fleet_restart(takt_fleet_worker *worker);

/* Stops a worker, its timers and callbacks, and all it would have heard, until then; one that is
 * stopped already goes on at the later time.  What it has sent arrives. */
void takt_fleet_freeze(takt_fleet_worker *worker, int64_t until_us);

/* Cuts a worker off: what is under way is lost, its claim fails at once, and so on until it is not
 * cut any more. */
void takt_fleet_cut(takt_fleet_worker *worker, bool cut);

/* Sends a single call to the ledger (neither CLAIM nor SETTLE); `value` is the cost of a TRY and a
 * CHARGE, and for how long a BLOCK is. */
void takt_fleet_call(takt_fleet_worker *worker, takt_sim_op op, int64_t value);

/* Settles slots as unused. */
void takt_fleet_settle(takt_fleet_worker *worker, const takt_run *unused);

/* The store forgets the ledger. */
void takt_fleet_lose_state(takt_fleet *fleet);

/* A worker's own clock. */
int64_t takt_fleet_clock(const takt_fleet_worker *worker);

/* Lets virtual time pass, up to and including until_us, or until nothing is planned.  0 or
 * TAKT_E_NOMEM. */
int takt_fleet_run(takt_fleet *fleet, int64_t until_us);

#endif
