/*
 * scheduler.h: the waiters of this process and what to claim next, as a state machine without I/O.
 *
 * Events come in: acquires (path.h), cancels and releases (waiter.h), awards and failures (below).
 * takt_scheduler_run makes one pass over the queues that they touched and those that are due.  Then
 * the driver takes out the results: claims to send (claims.h), permits whose callbacks are due and
 * the time of the next pass (below); driver.h has the order.  The scheduler reads no clock:
 * `now_us` is this process's monotonic time, passed by its driver (lib/client, simulate).
 */
#ifndef TAKT_SCHEDULER_SCHEDULER_H
#define TAKT_SCHEDULER_SCHEDULER_H

#include "scheduler/queue.h"
#include "scheduler/queue_bound.h"
#include "scheduler/queue_cover.h"

typedef struct takt_scheduler {
    uint64_t worker; /* this process's name in the line of every ledger */
    uint64_t random; /* for jitter */
    void *owner;     /* the driver's: lib/client has its takt_client here; set in every queue */
    int64_t seq; /* of the last claim to any ledger: a queue that is made again continues with it */
    takt_servers servers;
    takt_table queues;
    takt_table turns;    /* of limits with `fair: tenant`, and of nested work: turns.h */
    takt_table tenants;  /* takt_turn.by_tenant */
    takt_table subjects; /* inner limits and keys that have tenants: turns.h */
    takt_table inner;    /* inner limits and keys of nested work: nest.h */
    takt_heap timers;    /* queues by pass_at_us */
    takt_link touched;   /* queues that the next pass looks at */
    takt_link claiming;  /* queues that have something to claim now */
    takt_link idle;      /* queues in which nothing waits, the longest idle first */
    int idle_count;
    takt_link fired;   /* permits whose callbacks are due */
    takt_link granted; /* permits that hold something and whose callbacks have come */
    /* Permits that hold something and whose loss is no event: a try's answer will report it, and a
     * shadow waiter has nobody to report to. */
    takt_link quiet;
    takt_link losers; /* granted permits that have lost what they held, still to be reported */
    takt_link handing_back; /* queues that have slots to hand back */
    bool out_of_memory;     /* something was left out for lack of memory, such as a slot */
    bool all_left;          /* all waiters have left: claims and calls are not repeated */
    takt_queue *last;       /* the queue used last: mostly the next one too */
    takt_seen seen;         /* workers that shared any ledger */
    takt_link fallbacks;    /* queues that are now served without the store, still to be reported */
    /* An agent claims for this program (lib/relay).  All tenants and subjects may stand in line at
     * once: the agent, which has those of all programs, lets them take turns.  Its awards say how
     * many workers there are, each counted once. */
    bool relayed;
} takt_scheduler;

/* All waiters leave with a status.  What jobs hold and the slots in hand are given back, for
 * good. */
void takt_scheduler_leave_all(takt_scheduler *scheduler, int status);

/* The server of that number (server.h) has the queue's ledger: to be called before its answer. */
void takt_scheduler_set_server(takt_scheduler *scheduler, takt_queue *queue, int server);

/* The answer to a queue's claim, with the local times of sending and receiving.  If there is none,
 * `status` says why. */
void takt_scheduler_award(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                          int64_t sent_us, int64_t received_us);
void takt_scheduler_failed(takt_scheduler *scheduler, takt_queue *queue, int status,
                           int64_t now_us);

/* A call of this client has changed a queue's ledger (a block, a reset): slots before
 * blocked_until_us are dropped, and the next pass claims. */
void takt_scheduler_blocked(takt_scheduler *scheduler, takt_queue *queue, int64_t blocked_until_us);

/* The scheduler's part of a pass; driver.h takes out the results. */
void takt_scheduler_run(takt_scheduler *scheduler, int64_t now_us);

/* How many callbacks are due. */
int64_t takt_scheduler_count_fired(const takt_scheduler *scheduler);

/* The next permit whose callback is due, with its `status` set; NULL: no more.  Its state is
 * GRANTED or IDLE. */
takt_permit *takt_scheduler_next_fired(takt_scheduler *scheduler);

/* When to run again at the latest; TAKT_NEVER: only an event needs a pass. */
int64_t takt_scheduler_pass_at(const takt_scheduler *scheduler);

#endif
