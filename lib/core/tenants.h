/*
 * tenants.h: the tenants of a ledger whose limit has `fair: tenant`, and whose turn it is.
 *
 * A worker that has work of several tenants claims for each of them as a worker of its own, under a
 * number that is made of its own and the tenant's name.  So places, holders and awards are as in
 * any ledger.  A place also names its tenant, and the tenants of a priority take turns.  What
 * is given adds to a tenant's tag, divided by its weight; first goes the one whose tag is the
 * lowest after its turn (start-time fair queueing, by turns).  The places of a tenant take turns as
 * workers do without tenants.
 *
 * Only differences of tags count, so the lowest tag of a priority is always 0.  A tenant that
 * comes, or comes back, begins with tag 0 at least: it saves nothing while it has no waiters.
 *
 * A ledger has tenants from the first claim that names one until nobody waits.  One without tenants
 * calls nothing of this file.
 */
#ifndef TAKT_CORE_TENANTS_H
#define TAKT_CORE_TENANTS_H

#include "core/ledger.h"

/* What one of the priced unit adds to the tag of a tenant of weight 1. */
#define TAKT_TENANT_STEP (INT64_C(1) << 20)

/* A tenant of which others were given much more has not used its turns: what it may catch up with
 * is that many. */
#define TAKT_TENANT_TURNS 4

/* Call before a claim changes the line: each priority of its wants gets this tenant (NULL: that
 * without a name).  False: there are too many tenants, and the claim cannot stand in line. */
bool takt_tenants_join(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       const char *tenant, int32_t tenant_weight);

/* Call after the claim's places are in line: these name their tenant. */
void takt_tenants_assign(takt_ledger *ledger, const takt_claim *claim, const char *tenant);

/* Counts what was given to a place, in the first unit that a rule counts, or in requests if there
 * is no rule; where rules count several units, in how much of the first is given in the time in
 * which its scarcest one is. */
void takt_tenants_charge(takt_ledger *ledger, int at, takt_amounts given);

/* Work of a tenant has used more than it took, or less.  The difference is counted as charges are,
 * up to TAKT_SETTLED_MAX.  While nobody waits this has no effect.  A tenant that does not wait
 * owes, but saves nothing.  What it owes is paid up to TAKT_TENANT_TURNS. */
void takt_tenants_correct(takt_ledger *ledger, int64_t now_us, const char *name, int priority,
                          int64_t weight, takt_amounts taken, takt_amounts used);

/* Drops tenants that neither wait nor were given more than others, and lowers the tags.  Call when
 * places have gone. */
void takt_tenants_settle(takt_ledger *ledger);

/* The changes that time brings, after those of the line: sets aside late heads of tenants. */
void takt_tenants_tidy(takt_ledger *ledger, int64_t now_us);

/* The situation of a place in one unit, of which a lookahead has `total`. */
typedef struct takt_tenant_turn {
    int64_t share;  /* what a turn may take for each process of the worker */
    int64_t shares; /* that are left of this turn */
    int64_t ahead;  /* what is left to the places of its priority that go before it */
    int64_t first;  /* what those of its tenant want in any case */
} takt_tenant_turn;

/* To `plan` a place's next claim, `ahead` has also what other tenants get until those before it in
 * its tenant have had their turns.  Call takt_tenants_count before, after each change of the line.
 */
takt_tenant_turn takt_tenants_turn(const takt_ledger *ledger, int at, int unit, int64_t total,
                                   bool plan);
void takt_tenants_count(const takt_ledger *ledger);

/* For how many requests like that one the rules give enough in a span of time.  For a place (at >=
 * 0) it is the part of its tenant. */
int64_t takt_tenants_part(const takt_ledger *ledger, int at, int64_t span_us, takt_amounts one);

/* A place whose inner limits give the next token at an instant (due_in_us) can use no slot before
 * that.  All the slots after it are left to the place, but no more than it wants.  Call when that
 * instant or the places change. */
void takt_tenants_open(takt_ledger *ledger, int64_t now_us);

/* In its inner lines a claim does not wait for a place that does not go before its own one in the
 * outermost line, which has tenants: each would wait for the other.  Such places are `behind`:
 * until the claim ends, nothing is left to them there, but their turns are shares of the line.  Nor
 * does a claim wait in a line between for a place that is parked and whose tenant would go after
 * its own: that place may wait there for another one that waits for this claim.  The innermost line
 * of turns inside turns gives the outermost one its order, and passes over none.  Call when the
 * claim's places are in all lines, and have their tenants. */
void takt_tenants_pass_over(const takt_ledger *outer, int64_t now_us, uint64_t worker);

/* Call when the claim ends. */
void takt_tenants_pass_over_none(const takt_ledger *outer);

/* Turns inside turns: a subject of nested work whose innermost limit alone has `fair` is a tenant
 * of the outermost line, and has the tenants of the innermost line.  They share its turns by their
 * weights and tags there.  Call between takt_tenants_count and takt_tenants_turn of that place. */
void takt_tenants_look_inside(const takt_ledger *ledger, int at);

/* The places of the claim's subject exchange their turns, so that they stand in the order of their
 * tenants.  So whatever names a first or next place, also in claims of other subjects, which do not
 * know that innermost line, names the right one. */
void takt_tenants_arrange(takt_ledger *ledger, const takt_claim *claim);

/* Whether the place i, which is not aside, goes before the place `at`. */
bool takt_tenants_precede(const takt_ledger *ledger, int i, int at);

/* The first place that is not aside; line_count: none. */
int takt_tenants_first(const takt_ledger *ledger);

/* Wakes the workers that lack a permit and would get one now (award.h).  `level`: wakes.h. */
void takt_tenants_wake(const takt_ledger *ledger, uint64_t claimer, int level, takt_award *award);

/* Tells up to `max` tenants that have waiters, each once; returns their number.  If no waiter names
 * a tenant, there is none. */
int takt_tenants_tell(const takt_ledger *ledger, takt_tenant_standing *told, int max);

#endif
