/*
 * queue.h: the waiters of this process for one (limit, key), by priority, then by arrival.
 *
 * With `fair: tenant` a queue is kept for one tenant, and for nested work (nest.h) for one subject:
 * its limit and key are then the outermost ones.  The waiters are permits, in the callers' memory.
 * A queue also has what this process knows of its ledger.  Each part of the struct names the file
 * that keeps it.
 */
#ifndef TAKT_SCHEDULER_QUEUE_H
#define TAKT_SCHEDULER_QUEUE_H

#include <takt/takt.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/table.h"
#include "core/ledger.h"
#include "core/limit.h"
#include "scheduler/chain.h"
#include "scheduler/server.h"
#include "scheduler/share.h"
#include "scheduler/slots.h"

/* takt_permit.state */
enum {
    TAKT_PERMIT_IDLE = 0, /* not in use: new, or finished */
    TAKT_PERMIT_WAITING,  /* in a queue */
    TAKT_PERMIT_FIRED,    /* its callback is due */
    TAKT_PERMIT_TRYING,   /* a try is under way for it */
    TAKT_PERMIT_GRANTED   /* its callback has come; its work may run */
};

/* takt_permit.counted, of a waiter: no claim has stated it; one has; its award has come */
enum { TAKT_UNSTATED, TAKT_STATED, TAKT_COUNTED };

/* takt_permit.hold: one permit of all limits of its queue that have concurrency */
enum {
    TAKT_HOLD_NONE = 0,
    TAKT_HOLD_HELD,
    TAKT_HOLD_LOST /* its lease has ended or its client closes, and it is still to be released */
};

/* The waiters: queue.c; queue_bound.c has which of them are counted. */
typedef struct takt_waiters {
    takt_link lists[TAKT_PRIORITIES];
    int64_t count[TAKT_PRIORITIES];
    int64_t total;
    int64_t tokens; /* their costs together */
    /* With a bound: those that an award has counted. */
    int64_t counted;
    /* Number of neighbours of one priority whose amounts differ; 0: each priority has one sort. */
    int64_t changes;
    /* The waiters that have a deadline. */
    takt_heap deadlines;
} takt_waiters;

/* What this worker holds of the limit's permits: permits.c. */
typedef struct takt_holding {
    /* held by jobs; slots in hand are not included */
    int64_t running;
    int64_t told;            /* the number that the ledger knows, as far as we know */
    int64_t leased_until_us; /* certainly ours until then, by the local clock */
    int64_t fence, reuses;   /* numbers for permits that are handed on here */
    bool unsure;             /* an answer was lost: the ledger may count more as ours */
} takt_holding;

/* Slots that no waiter here needs: unused.c. */
typedef struct takt_unused {
    takt_slots slots;
    takt_link link; /* in the list of queues that have such slots */
} takt_unused;

/*
 * The claims: claims.c.  Four fields describe the last claim until the next one.  The award's
 * next_slot_at_us holds for a waiter that takes `least` or more, and is no more urgent than
 * `foremost`.  `planned` are the amounts of the first waiter, for which the ledger plans: a first
 * waiter that takes less claims again.  `planned` is noted only if the claim is `dear`.
 */
typedef struct takt_claims {
    int64_t sent_at_us; /* when the last claim was sent, by the local clock */
    takt_amounts least; /* that a waiter in that claim takes of each unit; 1: not known */
    int foremost;       /* priority of the most urgent of them */
    takt_offer offer; /* that claim's; the slot is in hand until its award says that it is taken */
    int32_t planned;  /* the ledger plans for a first waiter of this cost; 0: for none */
    takt_more planned_more; /* likewise, of further units */
    bool dear;              /* the claim had waiters that take more than one of a unit */
    bool in_flight;
    bool nudged;   /* a permit may have become free for us: claim */
    bool woken;    /* for us, or for another queue of tenants that this worker has: claim */
    bool in_vain;  /* the last claim was woken, and was given nothing */
    bool outdated; /* the ledger's numbers are newer than ours: claim */
    bool tried;    /* the last call was a try: a claim that is due comes next */
    /* Other than UNHINTED: slots in hand are held back. */
    enum { UNHINTED, HINTED, HINT_CLAIMED } hint;
} takt_claims;

/* The ledger's last answer: scheduler.c. */
typedef struct takt_awarded {
    int64_t at_us;           /* when the answer came, by the local clock */
    int64_t round_trip_us;   /* time from the claim to its answer */
    int64_t shorter_trip_us; /* the shorter one of the last two of these */
    int64_t again_at_us;     /* when the ledger expects the next claim, by the local clock */
    /* By the store's clock: no further slot is due before that for amounts of claims.least or
     * more, and a priority of takt_queue_next_priority or a less urgent one. */
    int64_t next_slot_at_us;
    int64_t blocked_until_us; /* by the store's clock; 0: not blocked */
    int64_t waiting;          /* in the fleet */
    bool prompt;              /* a claim after again_at_us has a later slot */
    bool crowded;             /* an inner limit may soon have more waiters than its bound */
    bool unlisted;            /* no ledger, or not each with a bound, has counted the waiters */
    unsigned in_line;         /* bits of the priorities with which we stand in line */
    int least_urgent;         /* priority of other workers' waiters; -1: they have none */
    bool uncontended;
    bool left_few; /* fewer waiters without a slot than slots in hand, each for one token */
    int64_t turn;  /* slots of the last turn, if others of its waiters have none yet; 0: unknown */
    /* Inner limits let no waiter of parked_priority or a less urgent one start soon: these are not
     * in turn before that, by the local clock (order.h).  0: it is not parked. */
    int64_t parked_until_us;
    int parked_priority;
    bool placed; /* in the lines of inner limits alone: the last award has parked it */
} takt_awarded;

/* The highest number of workers in the awards of about the last minute, including this one. */
typedef struct takt_seen {
    int64_t workers; /* 0: no award yet */
    int64_t at_us;   /* by the local clock */
} takt_seen;

/* How fast waiters start without the store, and the workers that go by it: loss.c. */
typedef struct takt_pace {
    takt_seen seen;    /* workers that shared this ledger */
    takt_share *share; /* NULL: never used */
} takt_pace;

/* How the queue is served without the store: loss.c. */
typedef struct takt_queue_loss {
    int trouble; /* an error that concerns this ledger alone; 0: none */
    int64_t believed_until_us;
    int64_t not_before_us; /* no claim before that after a failure, by the local clock */
    unsigned failures;     /* in a row */
    bool alone; /* the queue is served without the store, and the driver has been told or will be */
    takt_pace pace;     /* not used by the queues of tenants, which share one */
    takt_link fallback; /* in the list of queues whose fallback is still to be reported */
} takt_queue_loss;

/* Where the scheduler keeps the queue: registry.c. */
typedef struct takt_registered {
    takt_entry entry;
    takt_link link; /* in the list that `list` names */
    uint8_t list;   /* touched, claiming, idle, or nowhere */
    takt_node timer;
    int64_t pass_at_us; /* by the local clock; TAKT_NEVER: not in the heap of timers */
} takt_registered;

/* The turns of a tenant's queue: order.c. */
typedef struct takt_turn {
    struct takt_queue *queue;
    struct takt_turns *of;
    const char *tenant;   /* "": of work that names none */
    takt_entry by_tenant; /* its key: the turns, and a hash of the tenant */
    uint64_t key[2];
    int32_t weight;
    int32_t started;              /* waiters that its present turn has started without the store */
    takt_link all;                /* in the list of the tenants' queues */
    takt_link link;               /* in the list of those that stand in line */
    takt_node node;               /* in the heap of the others in turn */
    int64_t tag;                  /* what its tenant was given: order.h */
    int64_t told;                 /* the tag by the last award that told one; 0: none did */
    int64_t number;               /* of equal tags a later turn has a higher one */
    struct takt_subject *subject; /* NULL: it has had no tenants so far */
    takt_link of_subject;         /* in its list of those in turn */
    int8_t priority; /* of its most urgent waiter that needs a slot; -1: it is not in turn */
    bool stands;     /* its claims may state its waiters */
    bool has_waited; /* since it came into turn it has waited for a place in line */
} takt_turn;

/* An inner limit and key of a nested queue. */
typedef struct takt_inner {
    const takt_limit *limit;     /* of the policy */
    const takt_numbers *numbers; /* in use, and learned: as of the queue */
    takt_numbers *newer;
    const char *key;     /* stored behind the queue */
    takt_unit_map units; /* which of the waiters' amounts its units are */
    struct takt_queue *queue;
    struct takt_inner_ledger *ledger; /* what all queues with this limit and key share */
    takt_link link;                   /* in its list */
} takt_inner;

/* The inner limits of a queue: nest.c. */
typedef struct takt_nest {
    int count;
    takt_inner inner[TAKT_INNER_MAX]; /* the innermost first */
    bool numbered;                    /* as takt_chain.numbered */
    takt_stated_amounts stated;
    takt_inside inside;
    const char *tenant; /* of the work; "": it names none */
    int32_t weight;     /* of that tenant in the innermost line */
    char subject[TAKT_TENANT_SIZE_MAX + 1];
} takt_nest;

typedef struct takt_queue {
    const takt_limit *limit;     /* of the policy; of a nested queue the outermost one */
    const takt_numbers *numbers; /* in use: the limit's own, or `newer` */
    takt_numbers *newer;         /* learned from an award; NULL: none */
    const char *key;             /* of that limit; stored behind this struct, with its NUL */
    takt_turn *turn;             /* NULL: the limit has had no tenants so far */
    takt_nest *nest;             /* NULL: it is not nested */
    void *owner;                 /* takt_scheduler.owner */
    takt_server *server;         /* that keeps the ledger, as far as we know */
    takt_waiters waiters;
    int64_t weight; /* processes that the waiters are for; 0: this one alone */
    int64_t coming; /* permits whose shadow waiters may come here: waiter.c */
    int64_t tries;  /* under way, which refer to the queue */
    takt_slots in_hand;
    takt_holding holding;
    takt_unused unused;
    takt_claims claims;
    takt_awarded awarded;
    takt_queue_loss loss;
    takt_registered registry;
} takt_queue;

/* The permit that is in a list by its `line`. */
static inline takt_permit *takt_queue_permit(const takt_link *line)
{
    return TAKT_HOLDER(line, takt_permit, line);
}

void takt_queue_init(takt_queue *queue, const takt_limit *limit, const char *key);
void takt_queue_close(takt_queue *queue); /* nothing waits in it */

void takt_queue_add(takt_queue *queue, takt_permit *permit);
void takt_queue_remove(takt_queue *queue, takt_permit *permit);

/* The waiter that gets a slot: the first one that takes as much of each unit, otherwise the first
 * that takes no more.  The search is bounded.  NULL: no waiter suits. */
takt_permit *takt_queue_match(const takt_queue *queue, const takt_run *slot);

/* The first waiter: the oldest of the most urgent priority; NULL: nothing waits. */
takt_permit *takt_queue_first(const takt_queue *queue);

/* The last waiter: the newest of the least urgent priority; NULL: nothing waits. */
takt_permit *takt_queue_last(const takt_queue *queue);

/* The waiter whose deadline comes first; NULL: there is no deadline. */
takt_permit *takt_queue_first_deadline(const takt_queue *queue);

/* ---- what its limits say */

/* The numbers that a queue's claims state: the policy's own, or learned ones of a higher revision.
 * Learned numbers of the same revision are used only as long as their own workers state them, and
 * so are those that count units where nested work has amounts of units of other levels. */
static inline const takt_numbers *takt_queue_stated(const takt_queue *queue)
{
    const takt_numbers *own = &queue->limit->numbers, *used = queue->numbers;

    if (queue->nest && takt_numbers_units(used) > takt_numbers_units(own))
        return own;
    return used->revision > own->revision ? used : own;
}

/* The same of an inner level. */
static inline const takt_numbers *takt_inner_stated(const takt_inner *inner)
{
    const takt_numbers *own = &inner->limit->numbers, *used = inner->numbers;

    if (takt_numbers_units(used) > takt_numbers_units(own))
        return own;
    return used->revision > own->revision ? used : own;
}

/* Which of its waiters' amounts are those of the outermost limit, and of an inner one. */
takt_unit_map takt_queue_units(const takt_queue *queue);
takt_unit_map takt_inner_units(const takt_inner *inner);

/* Whether a waiter can ever get its slot: the key's work is not refused, and no rule gives less. */
bool takt_queue_can_give(const takt_queue *queue, const takt_permit *permit);

/* Whether its work holds permits, of any of its limits; and the shortest lease of these. */
bool takt_queue_has_permits(const takt_queue *queue);
int64_t takt_queue_lease(const takt_queue *queue);

/* The most urgent priority of which the award says when the next slot is: of the waiters that stay
 * in line if there are any, since others of the claim may be served or refused. */
int takt_queue_next_priority(const takt_queue *queue);

/* How much later than its slot work may begin, by all limits of the queue; TAKT_NEVER: none has a
 * guard. */
int64_t takt_queue_guard(const takt_queue *queue);

#endif
