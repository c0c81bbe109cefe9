/*
 * limit.h: a limit of one worker's policy: the numbers that it shares with the fleet, and the
 * worker's own settings, which no ledger has.
 */
#ifndef TAKT_CORE_LIMIT_H
#define TAKT_CORE_LIMIT_H

#include "core/numbers.h"

/* What work of a limit meets.  Only an override is other than limited. */
typedef enum takt_access {
    TAKT_ACCESS_LIMITED,
    TAKT_ACCESS_UNLIMITED, /* it starts at once, and no ledger is asked */
    TAKT_ACCESS_REFUSED    /* it fails: no cost is possible */
} takt_access;

/* Who takes turns for the slots of a limit. */
typedef enum takt_fair {
    TAKT_FAIR_WORKER,
    TAKT_FAIR_TENANT, /* tenants, wherever their work waits; and the workers of each tenant */
    TAKT_FAIR_KEY     /* likewise; of work from a limit inside, that limit's key is the tenant */
} takt_fair;

/* The overrides of a limit are limits too, with its name: those of the keys that they match
 * (policy/overrides.h). */
typedef struct takt_limit {
    char name[TAKT_NAME_SIZE_MAX + 1];
    takt_access access;
    takt_numbers numbers;
    /* What the cost is an amount of, by the rules that count it; "": they name no unit. */
    char unit[TAKT_UNIT_SIZE_MAX + 1];
    int32_t default_amount; /* of the unit, where an acquire states none; 0: it has to */
    /* The same of the further units that the rules name; "": there is none. */
    char more_units[TAKT_MORE_MAX][TAKT_UNIT_SIZE_MAX + 1];
    takt_more more_defaults;
    int priority; /* of acquires that name none */
    takt_on_store_failure on_store_failure;
    takt_mode mode;
    takt_learn learn;
    takt_fair fair;
    struct takt_weights *weights;     /* owned by the policy (policy/weights.h); NULL: none named */
    int32_t default_weight;           /* of tenants that `weights` does not name */
    struct takt_answers *answers;     /* owned by the policy (policy/answers.h); NULL: none */
    bool key_hash;                    /* stores get hashes of its keys (crypto/key_hash.h) */
    const struct takt_limit *within;  /* owned by the same policy; NULL: none */
    const struct takt_limit *base;    /* of an override: its limit; NULL: not an override */
    struct takt_overrides *overrides; /* owned by the policy; NULL: none */
} takt_limit;

#endif
