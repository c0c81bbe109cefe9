/*
 * queue.h: who waits in this process for one (limit, key): by priority, then by arrival.  Also
 * those who will give up at some time, and what to say of them all in a claim.  The waiters are
 * permits, the callers' memory.
 */
#ifndef TAKT_SCHEDULER_QUEUE_H
#define TAKT_SCHEDULER_QUEUE_H

#include <takt/takt.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/table.h"
#include "core/ledger.h"
#include "core/limit.h"
#include "scheduler/share.h"
#include "scheduler/slots.h"

/* takt_permit.state */
enum {
    TAKT_PERMIT_IDLE = 0, /* not ours: never used, or done with */
    TAKT_PERMIT_WAITING,  /* in a queue */
    TAKT_PERMIT_FIRED,    /* its callback is due */
    TAKT_PERMIT_TRYING,   /* a try is under way for it */
    TAKT_PERMIT_GRANTED   /* its callback has come; it may work */
};

/* Who waits: queue.c. */
typedef struct takt_waiters {
    takt_link lists[TAKT_PRIORITIES];
    int64_t count[TAKT_PRIORITIES];
    int64_t total;
    /* Neighbours of one priority whose costs differ; 0: each priority has one cost. */
    int64_t changes;
    /* The waiters that have a deadline. */
    takt_heap deadlines;
} takt_waiters;

/* What this worker holds of the limit's permits: permits.c. */
typedef struct takt_holding {
    int64_t running;         /* by jobs and by waiters that have one; slots in hand come on top */
    int64_t told;            /* as the ledger has it, as far as we know */
    int64_t leased_until_us; /* ours for certain, by the local clock */
    int64_t fence, reuses;   /* numbers for what is handed on here */
    bool unsure;             /* an answer was lost: the ledger may have more for us */
} takt_holding;

/* Slots that nobody here needs: unused.c. */
typedef struct takt_unused {
    takt_slots slots;
    takt_link link; /* among the queues that have such slots */
} takt_unused;

/* What the ledger is to be told: claims.c. */
typedef struct takt_claims {
    int64_t sent_at_us; /* the last one, by the local clock */
    int64_t min_cost;   /* of those who were claimed for; 1: it is not known */
    bool in_flight;
    bool nudged;   /* a permit may have come free for us: claim */
    bool outdated; /* the ledger's numbers are newer than ours: claim */
    bool tried;    /* the last call was a try: a claim that is due comes next */
    /* Other than UNHINTED: slots in hand are held back. */
    enum { UNHINTED, HINTED, HINT_CLAIMED } hint;
} takt_claims;

/* What the ledger answered last: scheduler.c. */
typedef struct takt_awarded {
    int64_t at_us;         /* when the answer came, by the local clock */
    int64_t round_trip_us; /* how long it took */
    int64_t again_at_us;   /* when the ledger expects us, by the local clock */
    /* By the store's clock: no slot that we have not been given is due before that for a cost of
     * claims.min_cost or more. */
    int64_t next_slot_at_us;
    int64_t blocked_until_us; /* by the store's clock; 0: it is not blocked */
    unsigned in_line;         /* bits of the priorities with which we stand in line */
    int least_urgent;         /* priority of other workers' waiters; -1: they have none */
    bool uncontended;
} takt_awarded;

/* The most workers that awards told of within a minute or so, with this one. */
typedef struct takt_seen {
    int64_t workers; /* 0: no award yet */
    int64_t at_us;   /* by the local clock */
} takt_seen;

/* How it goes without the store: loss.c. */
typedef struct takt_queue_loss {
    int trouble; /* an error that is this ledger's alone; 0: none */
    int64_t believed_until_us;
    int64_t not_before_us; /* after a failure: no claim before that, by the local clock */
    unsigned failures;     /* in a row */
    bool alone;            /* it is being served without the store, which was told */
    takt_seen seen;        /* workers that shared this ledger */
    takt_share *share;     /* NULL: never used */
    takt_link fallback;    /* among those of which this is still to be told */
} takt_queue_loss;

/* Where the scheduler keeps it: registry.c. */
typedef struct takt_registered {
    takt_entry entry;
    takt_link link; /* in the list that `list` names */
    uint8_t list;   /* touched, claiming, idle, or nowhere */
    takt_node timer;
    int64_t wake_at_us; /* by the local clock; TAKT_NEVER: not in the heap of timers */
} takt_registered;

typedef struct takt_queue {
    const takt_limit *limit;     /* the policy's */
    const takt_numbers *numbers; /* that hold: its numbers, or `newer` */
    takt_numbers *newer;         /* learned from an award; NULL: none were */
    const char *key;             /* behind this struct, with its NUL */
    void *owner;                 /* the scheduler's user's */
    takt_waiters waiters;
    int64_t coming; /* permits that are to pass inner limits and then come here: waiter.c */
    takt_slots in_hand;
    takt_holding holding;
    takt_unused unused;
    takt_claims claims;
    takt_awarded awarded;
    takt_queue_loss loss;
    takt_registered registry;
} takt_queue;

/* The numbers that a queue's claims state: the policy's own, unless newer ones were learned. Others
 * of the same revision hold as long as their own workers state them. */
static inline const takt_numbers *takt_queue_stated(const takt_queue *queue)
{
    return queue->numbers->revision > queue->limit->numbers.revision ? queue->numbers
                                                                     : &queue->limit->numbers;
}

void takt_queue_init(takt_queue *queue, const takt_limit *limit, const char *key);
void takt_queue_close(takt_queue *queue); /* nobody waits in it */

void takt_queue_add(takt_queue *queue, takt_permit *permit);
void takt_queue_remove(takt_queue *queue, takt_permit *permit);

/* The waiter that a slot of that cost goes to: the first one of this cost, else the first one of a
 * lower cost, looking only so far back; NULL if there is none. */
takt_permit *takt_queue_match(const takt_queue *queue, int32_t cost);

/* The first one: the oldest of the most urgent.  NULL if nobody waits. */
takt_permit *takt_queue_first(const takt_queue *queue);

/* The last one: the newest of the least urgent.  NULL if nobody waits. */
takt_permit *takt_queue_last(const takt_queue *queue);

/* The one that leaves first where more wait than may: the last one, or, where the limit drops the
 * oldest, the first of the least urgent for whom no slot is in hand.  NULL: nobody is to. */
takt_permit *takt_queue_excess(const takt_queue *queue);

/* The next one of the same priority; NULL: it is the last. */
takt_permit *takt_queue_behind(const takt_queue *queue, const takt_permit *permit);

/* The one whose deadline comes first; NULL if nobody has one. */
takt_permit *takt_queue_first_deadline(const takt_queue *queue);

/* Whether the slots in hand do for everybody who waits.  A slot does for a waiter of its cost or a
 * lower one. */
bool takt_queue_is_covered(const takt_queue *queue);

/* The first for whom they do not; NULL if they do for everybody. */
takt_permit *takt_queue_uncovered(const takt_queue *queue);

/* Lists those who wait and are not covered by slots in hand.  `deadline_soon_us`: deadlines up to
 * there (local clock) are told to the ledger, `offset_us` (local - store) earlier. */
void takt_queue_wants(const takt_queue *queue, int64_t deadline_soon_us, int64_t offset_us,
                      takt_claim *claim);

#endif
