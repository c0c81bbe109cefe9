/*
 * tenant_turns.h: whose turn it is among the tenants of a line (tenants.h), and what a place leaves
 * to those that go before it.  Call takt_tenants_count before, after each change of the line; for
 * `first` and `precede` that is not needed.
 */
#ifndef TAKT_CORE_TENANT_TURNS_H
#define TAKT_CORE_TENANT_TURNS_H

#include "core/ledger.h"

/* The situation of a place in one unit, of which a lookahead has `total`. */
typedef struct takt_tenant_turn {
    int64_t share;  /* what a turn may take for each process of the worker */
    int64_t shares; /* that are left of this turn */
    int64_t ahead;  /* what is left to the places of its priority that go before it */
    int64_t first;  /* what those of its tenant want in any case */
} takt_tenant_turn;

/* What a tenant may take in one turn. */
int64_t takt_tenant_turn_of(const takt_tenant *tenant, int64_t total, int64_t weights);

/* The tenant whose tag is lower after its turn goes first, so one that wants little does not wait
 * for whole turns of others.  Of equal ones the first in the table goes first. */
bool takt_tenant_goes_before(const takt_ledger *ledger, int a, int b, int unit, int64_t total,
                             int64_t weights);

/* What this tenant leaves to all tenants that go before it.  `tag`: each of them gets as much, by
 * its weight, as that tag says, if it can use that. */
int64_t takt_tenant_left_to_others(const takt_ledger *ledger, int index, int unit, int64_t total,
                                   int64_t weights, int64_t tag);

/* What each process behind a tenant's places may take in one turn. */
int64_t takt_tenant_share(const takt_tenant *tenant, int64_t total, int64_t weights);

/* A place's turn among tenants of its line, or of the innermost one (`of`), where its tenant has
 * that index. */
takt_tenant_turn takt_tenant_turn_among(const takt_ledger *ledger, int at, const takt_ledger *of,
                                        int index, int unit, int64_t total, bool plan);

/* Whether the place i, which is not aside, goes before the place `at`. */
bool takt_tenants_precede(const takt_ledger *ledger, int i, int at);

/* The first place that is not aside; line_count: none. */
int takt_tenants_first(const takt_ledger *ledger);

#endif
