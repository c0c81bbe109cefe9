/*
 * chain.h: the limits that one claim decides about, and the numbers of the units that they count.
 *
 * A claim states its amounts once, under numbers.  Each limit counts units of its own, so the chain
 * says which amounts belong to which level.  nest.h has the queues of such work.
 */
#ifndef TAKT_SCHEDULER_CHAIN_H
#define TAKT_SCHEDULER_CHAIN_H

#include "core/ledger.h"
#include "core/limit.h"

/* For each level, which amounts of its units the work of a numbered chain states.  A later policy
 * may count others. */
typedef struct takt_stated_amounts {
    bool of[TAKT_LEVELS_MAX][TAKT_AMOUNTS_MAX];
} takt_stated_amounts;

/* The limits that one claim is to decide about, the innermost first, with the keys of work and what
 * it takes of each.  The limits of work that enforce are one chain, and those in shadow are another
 * one. */
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

/* The level and number of the unit that an amount of a claim belongs to; level -1: none. */
typedef struct takt_chain_unit {
    int8_t level, amount;
} takt_chain_unit;

/* The amounts that work of a chain states.  The outermost limit's units keep its numbers.  Units
 * that only inner limits count get the remaining numbers.  Units of one name are one unit, unless a
 * request that states no amount takes different ones. */
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

/* Whether its limits can decide about work of a numbered chain.  If they count a unit of which it
 * states no amount, a request takes 1 of it; then it may state no other amount with that number. */
bool takt_chain_follows(const takt_chain *chain);

/* Slots of such work, with the amounts in the units of one level.  The level has those numbers; the
 * map of the outermost level is zeros. */
takt_run takt_chain_part(const takt_numbers *numbers, takt_unit_map map, takt_run run);

#endif
