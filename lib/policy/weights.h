/*
 * weights.h: whether the slots of a limit go to tenants in turns (`fair`), and how many turns'
 * worth each tenant gets (`weights`, `default_weight`).  Each worker reads its own policy: no
 * ledger keeps these words.
 *
 *     fair: tenant
 *     weights: {acme: 3, "big customer": 10}
 *     default_weight: 2
 */
#ifndef TAKT_POLICY_WEIGHTS_H
#define TAKT_POLICY_WEIGHTS_H

#include <takt/policy.h>
#include <takt/takt.h>

#include "core/ledger.h"
#include "core/limit.h"

#define TAKT_WEIGHTS_MAX 64 /* tenants that a limit names */

typedef struct takt_weight {
    char tenant[TAKT_TENANT_SIZE_MAX + 1];
    int32_t weight;
} takt_weight;

struct takt_weights {
    int count;
    takt_weight of[TAKT_WEIGHTS_MAX]; /* sorted by tenant */
};

/*
 * Reads the three fields into *limit.  limit->weights is NULL if no tenant is named;
 * takt_weights_free frees it.  Returns 0, TAKT_E_POLICY with an error that begins with the field,
 * or TAKT_E_NOMEM.
 */
int takt_weights_read(const takt_limit_text *text, takt_limit *limit, takt_error *error);
void takt_weights_free(struct takt_weights *weights); /* NULL is harmless */

/* The weight of a tenant, by its clear name. */
int32_t takt_weights_of(const takt_limit *limit, const char *tenant);

/* Whether every tenant has the same weight in both. */
bool takt_weights_same(const takt_limit *a, const takt_limit *b);

/* Appends ", fair tenant, weights {acme: 3}, default_weight 2"; nothing without `fair`. */
void takt_weights_describe(const takt_limit *limit, char *text, size_t size);

#endif
