/*
 * pass_over.c: see pass_over.h.
 */
#include "core/pass_over.h"

#include "core/gaps.h"
#include "core/inner.h"
#include "core/line.h"
#include "core/tenant_inside.h"
#include "core/tenant_turns.h"
#include "core/tenants.h"

/* Whether the place `at` of the outermost line does not go before the claim's place `me`.  `total`:
 * what a lookahead has of the priced unit. */
static bool is_behind(const takt_ledger *outer, int me, int at, int64_t total)
{
    const takt_place *mine = &outer->line[me], *theirs = &outer->line[at];
    int64_t weights = takt_tenants_weights(outer, mine->priority, -1);
    int unit = takt_tenants_unit(outer);

    if (theirs->tenant != mine->tenant)
        return !takt_tenant_goes_before(outer, theirs->tenant - 1, mine->tenant - 1, unit, total,
                                        weights);
    if (!outer->within_turns || mine->inside == 0 || theirs->inside == 0 ||
        mine->inside == theirs->inside)
        return at > me;
    total = takt_tenant_turn_of(takt_tenant_of(outer, me), total, weights);
    weights = takt_tenants_weights(outer->inner[0], mine->priority, -1);
    return !takt_tenant_goes_before(outer->inner[0], theirs->inside - 1, mine->inside - 1, unit,
                                    total, weights);
}

/* The same of the places of an inner line that have the priority of `me`. */
static void pass_over(const takt_ledger *outer, int me, takt_ledger *inner, int64_t total)
{
    const takt_place *mine = &outer->line[me];

    for (int i = 0; i < inner->line_count; i++) {
        takt_place *place = &inner->line[i];
        int at;
        if (place->priority != mine->priority || place->worker == mine->worker)
            continue;
        at = takt_line_find(outer, place->worker, place->priority);
        place->away = false;
        place->behind = at >= 0 && !outer->line[at].aside && is_behind(outer, me, at, total);
    }
}

/* Whether permits decide on any level who starts. */
static bool has_permits(const takt_ledger *outer)
{
    for (int i = 0; i < outer->inner_count; i++)
        if (outer->inner[i]->numbers->concurrency > 0)
            return true;
    return outer->numbers->concurrency > 0;
}

/* Whether a slot for the place's first waiter has been free on all levels for a lookahead. */
static bool is_idle(const takt_ledger *outer, int64_t now_us, const takt_place *place)
{
    int64_t since_us = now_us - outer->numbers->lookahead_us;
    takt_amounts one = takt_amounts_of(place->need, outer->stated[place->priority].first);

    return takt_gaps_are_kept(outer) && !has_permits(outer) &&
           takt_inner_from(outer, 0) <= since_us &&
           takt_inner_next(outer, since_us, one) <= since_us;
}

/* Whether there was one. */
static bool clear_behind(takt_ledger *ledger)
{
    bool found = false;

    for (int at = 0; at < ledger->line_count; at++) {
        found |= ledger->line[at].behind;
        ledger->line[at].behind = false;
    }
    return found;
}

/* The claim waits for no other place of that priority in a line. */
static void pass_over_all(takt_ledger *ledger, const takt_place *mine)
{
    for (int i = 0; i < ledger->line_count; i++)
        if (ledger->line[i].priority == mine->priority && ledger->line[i].worker != mine->worker)
            ledger->line[i].behind = ledger->line[i].away = true;
}

/* The same in all lines that have tenants. */
static void pass_over_every(takt_ledger *outer, int me)
{
    pass_over_all(outer, &outer->line[me]);
    for (int i = 0; i < outer->inner_count; i++)
        if (outer->inner[i]->tenant_count > 0)
            pass_over_all(outer->inner[i], &outer->line[me]);
}

void takt_pass_over(takt_ledger *outer, int64_t now_us, uint64_t worker)
{
    int64_t total;

    if (outer->tenant_count == 0 || outer->inner_count == 0)
        return;
    (void)clear_behind(outer);
    for (int i = 0; i < outer->inner_count; i++)
        (void)clear_behind(outer->inner[i]);
    total = takt_tenants_lookahead(outer, now_us);
    takt_tenants_count(outer);
    for (int me = 0; me < outer->line_count; me++) {
        if (outer->line[me].worker != worker)
            continue;
        takt_tenants_look_inside(outer, me);
        for (int i = outer->within_turns ? 1 : 0; i < outer->inner_count; i++)
            if (outer->inner[i]->tenant_count > 0)
                pass_over(outer, me, outer->inner[i], total);
        if (is_idle(outer, now_us, &outer->line[me]))
            pass_over_every(outer, me);
    }
}

void takt_pass_over_none(takt_ledger *outer)
{
    (void)clear_behind(outer);
    for (int i = 0; i < outer->inner_count; i++)
        if (clear_behind(outer->inner[i]))
            takt_tenants_trim(outer->inner[i]);
}
