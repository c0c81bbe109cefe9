/*
 * tenant_inside.h: turns inside turns.
 *
 * A subject of nested work whose innermost limit alone has `fair` is a tenant of the outermost
 * line, and has the tenants of the innermost line.  They share its turns by their weights and tags
 * there.
 */
#ifndef TAKT_CORE_TENANT_INSIDE_H
#define TAKT_CORE_TENANT_INSIDE_H

#include "core/tenant_turns.h"

/* Looks which tenants of the innermost line share the turns of the place's subject.  Call between
 * takt_tenants_count and takt_tenants_turn of that place. */
void takt_tenants_look_inside(const takt_ledger *ledger, int at);

/* The places of the claim's subject exchange their turns, so that they stand in the order of their
 * tenants.  So whatever names a first or next place, also in claims of other subjects, which do not
 * know that innermost line, names the right one. */
void takt_tenants_arrange(takt_ledger *ledger, const takt_claim *claim);

/* To `plan` a place's next claim, `ahead` has also what other tenants get until those before it in
 * its tenant have had their turns.  Call takt_tenants_count before, after each change of the line.
 */
takt_tenant_turn takt_tenants_turn(const takt_ledger *ledger, int at, int unit, int64_t total,
                                   bool plan);

#endif
