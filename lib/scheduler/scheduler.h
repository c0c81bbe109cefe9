/*
 * scheduler.h: who waits in this process and what to claim next, as a state machine without I/O.
 *
 * Events come in (acquire, cancel, award, failed), run() makes one pass over what they touched and
 * what time made due, and then the results are taken out: permits whose callbacks are due, claims
 * to send, the time to wake at. It reads no clock: `now_us` is this process's monotonic time, told
 * by its driver (lib/client, simulate).
 */
#ifndef TAKT_SCHEDULER_SCHEDULER_H
#define TAKT_SCHEDULER_SCHEDULER_H

#include "scheduler/clock.h"
#include "scheduler/queue.h"

/* Whether the store is lost: loss.c. */
typedef struct takt_scheduler_loss {
    bool lost;                 /* a call has failed and none was answered since */
    int trouble;               /* why, while it is believed; 0: it is not */
    int64_t believed_until_us; /* by the local clock */
    int64_t ask_at_us;         /* no claim only to find out before that */
    unsigned failures;         /* in a row */
    takt_seen seen;            /* workers that shared any ledger */
    takt_link fallbacks;       /* queues that have begun to be served without the store */
} takt_scheduler_loss;

typedef struct takt_scheduler {
    uint64_t worker; /* this process's name in every ledger's line */
    uint64_t random; /* for jitter */
    void *owner;     /* set in every queue */
    int64_t seq;     /* of the last claim, to whatever ledger: a queue made anew goes on with it */
    takt_clock clock;
    takt_table queues;
    takt_heap timers;   /* queues by wake_at_us */
    takt_link touched;  /* queues that the next pass looks at */
    takt_link claiming; /* queues that have something to claim now */
    takt_link idle;     /* queues that nothing waits in, the longest idle first */
    int idle_count;
    takt_link fired;   /* permits whose callbacks are due */
    takt_link granted; /* permits that hold something, their callbacks have come */
    takt_link quiet;   /* permits that hold something, whose loss nobody is told of at once */
    takt_link losers;  /* of those granted, those that have lost it, which is still to be told */
    takt_link handing_back; /* queues that have slots to hand back */
    bool out_of_memory;     /* something was left out for lack of memory, such as a slot */
    bool parting;           /* everybody has left: what is said now is said once */
    takt_queue *last;       /* asked for last: mostly the next one too */
    int in_flight;          /* claims */
    takt_scheduler_loss loss;
} takt_scheduler;

/* Everybody leaves, with a status, and what jobs hold and slots in hand are given back, for good.
 */
void takt_scheduler_leave_all(takt_scheduler *scheduler, int status);

/* The answer to a queue's claim, which was sent and came at those times; or none came, which
 * `status` tells why. */
void takt_scheduler_award(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                          int64_t sent_us, int64_t received_us);
void takt_scheduler_failed(takt_scheduler *scheduler, takt_queue *queue, int status,
                           int64_t now_us);

/* Something happened to a queue's ledger (a block, a reset): slots before blocked_until_us are
 * dropped, and the next pass claims. */
void takt_scheduler_blocked(takt_scheduler *scheduler, takt_queue *queue, int64_t blocked_until_us);

/* The scheduler's part of a pass; driver.h takes out the results. */
void takt_scheduler_run(takt_scheduler *scheduler, int64_t now_us);

/* How many permits' callbacks are due. */
int64_t takt_scheduler_count_fired(const takt_scheduler *scheduler);

/* The next permit whose callback is due, its `status` set; NULL: no more.  Its state is GRANTED or
 * IDLE. */
takt_permit *takt_scheduler_next_fired(takt_scheduler *scheduler);

/* When to run again at the latest; TAKT_NEVER: nothing waits for time. */
int64_t takt_scheduler_wake_at(const takt_scheduler *scheduler);

#endif
