/*
 * turns.h: the queues of one limit and key with `fair: tenant`, one for each tenant, which take
 * turns.  So do those of nested work, one for each subject (nest.h).  order.h decides whose turn it
 * is.
 */
#ifndef TAKT_SCHEDULER_TURNS_H
#define TAKT_SCHEDULER_TURNS_H

#include "scheduler/scheduler.h"

#define TAKT_TURNS_IN_LINE 32

typedef struct takt_turns {
    takt_entry entry; /* the limit's name, a NUL, the key */
    takt_link queues; /* takt_turn.all */
    /* Those with waiters that need slots: the ones that stand in line, TAKT_TURNS_IN_LINE at most,
     * by when they came into turn; and the others, in the order of their turns.  Behind an agent
     * all are in `order`. */
    takt_link standing[TAKT_PRIORITIES]; /* takt_turn.link */
    takt_heap order[TAKT_PRIORITIES];    /* takt_turn.node */
    int standing_count;
    int64_t last_number;            /* that a turn has got */
    int in_line;                    /* queues of which the ledger has waiters */
    int alone;                      /* queues that are served without the store */
    int64_t shift[TAKT_PRIORITIES]; /* what a tag is here, less what awards tell: order.h */
    int64_t claimed_at_us;          /* when one of them has claimed last, by the local clock */
    int claims;                     /* how many have claimed then */
    takt_pace pace;                 /* of all of them: loss.c */
    char id[];
} takt_turns;

/* An inner limit and key that several queues of these turns have, one for each tenant. */
typedef struct takt_subject {
    takt_entry entry;
    const void *key[2];                 /* the turns, and the inner ledger */
    int queues;                         /* that have had tenants of it */
    int standing;                       /* those of them that stand in line */
    int64_t told[TAKT_PRIORITIES];      /* its tag here, by the last award to one; 0: not known */
    int64_t step;                       /* what the last start has added to it */
    takt_link in_turn[TAKT_PRIORITIES]; /* takt_turn.of_subject, in the order of their turns */
} takt_subject;

/* Whether the queue's waiters have to wait here for their turn in the line. */
static inline bool takt_turns_hold_up(const takt_queue *queue)
{
    return queue->turn && !queue->turn->stands;
}

/* For whom a queue claims; NULL: it has no tenants.  A limit without `fair` keeps the tenants that
 * its waiters came with, until nothing waits for them. */
static inline const char *takt_turns_tenant(const takt_queue *queue)
{
    bool has_tenant =
        queue->nest ||
        (queue->turn && (queue->turn->tenant[0] || queue->limit->fair != TAKT_FAIR_WORKER));

    return has_tenant ? queue->turn->tenant : NULL;
}

/* Whether the ledger has waiters of the queue from now on; before awarded.in_line says so. */
static inline void takt_turns_count(takt_queue *queue, bool in_line)
{
    if (queue->turn)
        queue->turn->of->in_line += in_line - (queue->awarded.in_line != 0);
}

/* A queue of a limit and key (`id`) takes turns from now on, as that of a tenant, whose name stays
 * where it is; false: no memory. */
bool takt_turns_join(takt_scheduler *scheduler, const char *id, size_t size, takt_queue *queue,
                     const char *tenant);
void takt_turns_leave(takt_scheduler *scheduler, takt_queue *queue);

/* From now on that is its tenant, or the subject that it has its turns in with others: then it
 * cannot be found by the name.  The name stays where it is. */
void takt_turns_name(takt_scheduler *scheduler, takt_turn *turn, const char *tenant, bool alone);

/* The queue, which has joined, is kept for a tenant of its innermost limit and key.  False: no
 * memory. */
bool takt_turns_join_subject(takt_scheduler *scheduler, takt_queue *queue);

/* A queue that is not in turn comes into turn with that priority, as the last one of its tag. */
void takt_turns_enter(takt_turn *turn, int priority);

/* It is in turn no longer. */
void takt_turns_take_out(takt_turn *turn);

/* The tag of a queue in turn is another one from now on. */
void takt_turns_set_tag(takt_turn *turn, int64_t tag);

/* The claims of a queue in turn state its waiters, or do so no longer. */
void takt_turns_stand(takt_turn *turn);
void takt_turns_stand_in_order(takt_turn *turn); /* behind an agent */
void takt_turns_step_back(takt_turn *turn);

/* The first one of those in turn with that priority, or of those of them that do not stand in line;
 * NULL: there is none. */
takt_turn *takt_turns_first(const takt_turns *turns, int priority);
takt_turn *takt_turns_first_held_up(const takt_turns *turns, int priority);

/* The queue of a named tenant or of nested work after `before`; the first one if that is no such
 * queue.  NULL: no more. */
takt_queue *takt_turns_next(takt_scheduler *scheduler, const char *id, size_t size,
                            const takt_queue *before);

/* The turn of a queue that is alone, of that tenant, after `before` (NULL: the first); NULL: no
 * more. */
takt_turn *takt_turns_of_tenant(takt_scheduler *scheduler, const char *id, size_t size,
                                const char *tenant, const takt_turn *before);

#endif
