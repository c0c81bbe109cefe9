/*
 * nest.h: work of inner limits (`within`) that waits in one queue of the outermost limit.
 *
 * If a claim can decide about all levels at once (core/inner.h), work does not pass them one after
 * the other.  It waits in a queue of the outermost limit and key that is kept for its inner limits
 * and keys alone, takes turns like the queue of a tenant (order.h), and claims with the inner
 * limits.  To the ledger its tenant is the subject: the inner keys.  With `fair: tenant` it is the
 * tenant that the work names.
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
    bool alike; /* all levels take the same cost, and their units have no names: lib/relay */
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

/* Whether one claim can decide about all levels: all enforce, or all are in shadow; the inner ones
 * have no tenants; and their units can be numbered. */
bool takt_chain_is_nested(const takt_chain *chain);

/* Whether all levels that bound their waiters have the same when_full. */
bool takt_chain_drops_alike(const takt_chain *chain);

/* Whether work of that chain is nested here.  A program behind an agent passes limits one after the
 * other if they count different units or differ in when_full: no message to the agent says which
 * units these are, and none to the program in which way a waiter leaves. */
bool takt_nest_suits(const takt_scheduler *scheduler, const takt_chain *chain);

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
 * the chain's, and stay as long as the queue.  0 or TAKT_E_NOMEM. */
int takt_nest_join(takt_scheduler *scheduler, takt_queue *queue, const takt_chain *chain,
                   const char *const *keys);
void takt_nest_leave(takt_scheduler *scheduler, takt_queue *queue);

/* The next queue after `before` (NULL: the first) that has this limit and key as an inner level;
 * NULL: no more. */
takt_queue *takt_nest_next(takt_scheduler *scheduler, const takt_limit *limit, const char *key,
                           const takt_queue *before);

/* Whether the amounts of its waiters mean the same with the limits of that chain. */
bool takt_nest_continues(const takt_nest *nest, const takt_chain *chain);

/* The number under which a worker claims for a nested queue.  It belongs to the whole chain: an
 * inner ledger may be within several outer keys, and has a holder and a place for each queue. */
uint64_t takt_nest_worker(const takt_queue *queue, uint64_t worker);

#endif
