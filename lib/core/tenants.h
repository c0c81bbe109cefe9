/*
 * tenants.h: the tenants of a ledger whose limit has `fair: tenant`, and what each was given.
 *
 * A worker that has work of several tenants claims for each of them as a worker of its own, under a
 * number that is made of its own and the tenant's name.  So places, holders and awards are as in
 * any ledger.  A place also names its tenant, and the tenants of a priority take turns.  What
 * is given adds to a tenant's tag, divided by its weight; first goes the one whose tag is the
 * lowest after its turn (start-time fair queueing, by turns).  The places of a tenant take turns as
 * workers do without tenants.
 *
 * Only differences of tags count.  They begin at 0 when somebody waits, and grow while somebody
 * waits.  A tenant that comes, or comes back, begins at the lowest tag of those that wait: it saves
 * nothing while it has no waiters.
 *
 * A worker has some of its tenants in line at once, and the others wait in it for a place there
 * (scheduler/order.h).  So an award tells the tag of the claim's tenant, and a worker brings those
 * with the lowest tags into line.  The claim of a tenant that has waited in its worker states the
 * tag from which it has waited.  If the others are ahead of that tag, it catches up with them by
 * TAKT_TENANT_TURNS at most.  The ledger remembers tenants without places for as long: otherwise
 * such a claim would not count what other workers were given for the same tenant.
 *
 * A ledger has tenants from the first claim that names one until nobody waits.  One without tenants
 * calls nothing of this file.
 *
 * Whose turn it is: tenant_turns.h; turns inside turns: tenant_inside.h.
 */
#ifndef TAKT_CORE_TENANTS_H
#define TAKT_CORE_TENANTS_H

#include "core/ledger.h"

/* What one of the priced unit adds to the tag of a tenant of weight 1. */
#define TAKT_TENANT_STEP (INT64_C(1) << 20)

/* A tenant of which others were given much more has not used its turns: what it may catch up with
 * is that many, and the largest request in line, which puts its tenant so far ahead. */
#define TAKT_TENANT_TURNS 4

/* If the lowest tag is that high, all of them are lowered.  So the text of a ledger has short ones,
 * and nothing overflows. */
#define TAKT_TENANT_TAG_HIGH (INT64_C(1) << 44)

/* Call before a claim changes the line: each priority of its wants gets this tenant (NULL: that
 * without a name), which has waited in its worker from that tag on (0: it has not).  False: there
 * are too many tenants, and the claim cannot stand in line. */
bool takt_tenants_join(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       const char *tenant, int32_t tenant_weight, int64_t waited_from);

/* Call after the claim's places are in line: these name their tenant. */
void takt_tenants_assign(takt_ledger *ledger, const takt_claim *claim, const char *tenant);

/* Counts what was given to a place, in the first unit that a rule counts, or in requests if there
 * is no rule; where rules count several units, in how much of the first is given in the time in
 * which its scarcest one is. */
void takt_tenants_charge(takt_ledger *ledger, int at, takt_amounts given);

/* Work of a tenant has used more than it took, or less.  The difference is counted as charges are,
 * up to TAKT_SETTLED_MAX.  While nobody waits this has no effect.  A tenant that does not wait
 * owes, but saves nothing.  What it owes is paid up to TAKT_TENANT_TURNS.  Returns what that adds
 * to the tag of the tenant if it waits in its worker; below 0: it is so much lower. */
int64_t takt_tenants_correct(takt_ledger *ledger, int64_t now_us, const char *name, int priority,
                             int64_t weight, takt_amounts taken, takt_amounts used);

/* Drops tenants that do not wait, if the others have caught up with them.  Call when places have
 * gone. */
void takt_tenants_trim(takt_ledger *ledger);

/* The tag of the claim's tenant, with the priority of its most urgent want; 0: it has none. */
int64_t takt_tenants_tag(const takt_ledger *ledger, const takt_claim *claim);

/* The changes that time brings, after those of the line: sets aside late heads of tenants. */
void takt_tenants_tidy(takt_ledger *ledger, int64_t now_us);

/* Tells up to `max` tenants that have waiters, each once; returns their number.  If no waiter names
 * a tenant, there is none. */
int takt_tenants_tell(const takt_ledger *ledger, takt_tenant_standing *told, int max);

/* ---- the table and tags, for whose turn it is ------------------------------------------------ */

/* The tenant of a place. */
static inline takt_tenant *takt_tenant_of(const takt_ledger *ledger, int at)
{
    return &ledger->tenants[ledger->line[at].tenant - 1];
}

/* The index of a tenant; tenant_count: it is not there. */
int takt_tenants_find(const takt_ledger *ledger, int priority, const char *name);

/* Counts in each tenant what its places want.  Call after each change of the line, before anything
 * looks at turns. */
void takt_tenants_count(const takt_ledger *ledger);

/* The same with places that are named one by one, in the order of the line. */
void takt_tenants_count_none(const takt_ledger *ledger);
void takt_tenant_count_place(takt_tenant *tenant, const takt_place *place);

/* The sum of the weights of the tenants of a priority that have places which are not aside, without
 * one tenant. 0: there are none. */
int64_t takt_tenants_weights(const takt_ledger *ledger, int priority, int without);

/* The unit of prices and tags: the first that a rule counts. Permits alone are of requests. */
int takt_tenants_unit(const takt_ledger *ledger);

/* What a lookahead has of the priced unit, or the room if that is more. */
int64_t takt_tenants_lookahead(const takt_ledger *ledger, int64_t now_us);

/* What an amount adds to the tag of a tenant. */
int64_t takt_tenant_step(const takt_tenant *tenant, int64_t tokens);

#endif
