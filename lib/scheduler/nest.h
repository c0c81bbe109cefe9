/*
 * nest.h: work of inner limits (`within`) that waits in one queue of the outermost limit.
 *
 * A claim decides about all levels at once (core/inner.h).  So work waits in a queue of the
 * outermost limit and key that is kept for its inner limits and keys alone, takes turns like the
 * queue of a tenant (order.h), and claims with the inner limits.  To the ledger its tenant is the
 * subject: the inner keys.  With `fair: tenant` it is the tenant that the work names.  If the
 * innermost limit alone has `fair`, the queue is kept for one tenant of its subject.
 */
#ifndef TAKT_SCHEDULER_NEST_H
#define TAKT_SCHEDULER_NEST_H

#include "scheduler/scheduler.h"

/* The limits that one claim is to decide about, the innermost first, with the keys of work and what
 * it takes of each.  Those of work that enforce are a chain, and those in shadow are another one.
 */
typedef struct takt_chain {
    const takt_limit *limits[TAKT_LEVELS_MAX];
    const char *keys[TAKT_LEVELS_MAX];
    int64_t costs[TAKT_LEVELS_MAX];
    takt_more more[TAKT_LEVELS_MAX];
    int count;
    takt_inside inside;
    /* A program has numbered the amounts, with these maps of the inner levels: lib/relay.  Names of
     * units, costs and further amounts are not known. */
    bool numbered;
    takt_unit_map maps[TAKT_INNER_MAX];
    takt_stated_amounts stated;
} takt_chain;

/* Of which level's unit an amount of a claim is: the amount of that number there; level -1: of
 * none. */
typedef struct takt_chain_unit {
    int8_t level, amount;
} takt_chain_unit;

/* The amounts that work of a chain states: first those of the outermost limit's units, under its
 * numbers; in the places that are left those of units that only inner limits count.  Units of one
 * name are one unit, unless a request that states no amount takes different ones. */
typedef struct takt_chain_units {
    takt_chain_unit of[TAKT_AMOUNTS_MAX];
    takt_unit_map maps[TAKT_INNER_MAX]; /* of each inner level */
} takt_chain_units;

/* False: the levels count more units than work can state amounts of. */
bool takt_chain_number(const takt_chain *chain, takt_chain_units *units);

/* Sets what the work takes, in the chain's numbers.  False: as above. */
bool takt_chain_take(const takt_chain *chain, int32_t *cost, takt_more *more);

/* Which tenants the innermost line of that chain has. */
takt_inside takt_chain_inside(const takt_chain *chain);

/* Whether one claim can decide about all levels: all enforce, or all are in shadow; no key is
 * unlimited; if one has tenants, so has the outermost or the innermost one; and their units can be
 * numbered. */
bool takt_chain_is_nested(const takt_chain *chain);

/* The work of a numbered chain states the amounts that its present limits count. */
void takt_chain_state(takt_chain *chain);

/* Whether work of a numbered chain can go by its limits.  If these count a unit of which it states
 * no amount, a request takes 1 of it; then it may state no other amount in that place. */
bool takt_chain_follows(const takt_chain *chain);

/* Slots of work in the units of one of its levels, which has those numbers; of the outermost one
 * the map is zeros. */
takt_run takt_nest_part(const takt_numbers *numbers, takt_unit_map map, takt_run run);

/* An inner limit and key that queues of this process have. */
typedef struct takt_inner_ledger {
    takt_entry entry;  /* the limit's name, a NUL, the key */
    takt_link queues;  /* takt_inner.link */
    int alone;         /* of them, those that are served without the store */
    takt_share *share; /* the pace of all of them then: loss.c; NULL: never used */
    char id[];
} takt_inner_ledger;

/* The queue, whose key and id are set, gets the inner levels of that chain.  `keys` are the same as
 * the chain's, and stay as long as the queue, as does the tenant's name ("": none).  0 or
 * TAKT_E_NOMEM. */
int takt_nest_join(takt_scheduler *scheduler, takt_queue *queue, const takt_chain *chain,
                   const char *const *keys, const char *tenant);
void takt_nest_leave(takt_scheduler *scheduler, takt_queue *queue);

/* The next queue after `before` (NULL: the first) that has this limit and key as an inner level;
 * NULL: no more. */
takt_queue *takt_nest_next(takt_scheduler *scheduler, const takt_limit *limit, const char *key,
                           const takt_queue *before);

/* Whether a nested queue has the limits of that chain. */
bool takt_nest_has(const takt_queue *queue, const takt_chain *chain);

/* Whether the amounts of its waiters mean the same with the limits of that chain. */
bool takt_nest_continues(const takt_nest *nest, const takt_chain *chain);

/* The number under which a worker claims for a nested queue.  It follows the queue's name alone, so
 * that a policy which moves `fair` to another level loses no permits.  An inner ledger may be
 * within several outer keys, and has a holder and a place for each queue. */
uint64_t takt_nest_worker(const takt_queue *queue, uint64_t worker);

/* The tenant of the queue's work in the line of an inner level, with its weight; NULL: that line
 * has one without a name. */
const char *takt_nest_tenant(const takt_queue *queue, int level, int32_t *weight);

#endif
