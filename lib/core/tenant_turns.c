/*
 * tenant_turns.c: see tenant_turns.h.
 */
#include "core/tenant_turns.h"

#include "base/integers.h"
#include "core/line.h"
#include "core/tenants.h"

int64_t takt_tenant_turn_of(const takt_tenant *tenant, int64_t total, int64_t weights)
{
    return takt_max(total * tenant->weight / weights, 1);
}

/* A tenant's tag after its turn. */
static int64_t tag_after(const takt_tenant *tenant, int unit, int64_t total, int64_t weights)
{
    return tenant->tag +
           takt_min(takt_tenant_turn_of(tenant, total, weights), tenant->wanting.of[unit]) *
               TAKT_TENANT_STEP / tenant->weight;
}

bool takt_tenant_goes_before(const takt_ledger *ledger, int a, int b, int unit, int64_t total,
                             int64_t weights)
{
    int64_t left = tag_after(&ledger->tenants[a], unit, total, weights);
    int64_t right = tag_after(&ledger->tenants[b], unit, total, weights);

    return left < right || (left == right && a < b);
}

/* What a tenant gets until it has had as much, by its weight, as a tag says. */
static int64_t until_even(const takt_tenant *tenant, int64_t tag)
{
    int64_t less = takt_max(tag - tenant->tag, 0);

    return less / TAKT_TENANT_STEP * tenant->weight +
           less % TAKT_TENANT_STEP * tenant->weight / TAKT_TENANT_STEP;
}

/* What a tenant leaves to one that goes before it: a turn, or the difference if that one was given
 * less, up to two turns. */
static int64_t left_to(const takt_tenant *tenant, int64_t tag, int unit, int64_t total,
                       int64_t weights)
{
    int64_t turn = takt_tenant_turn_of(tenant, total, weights);

    return takt_min(takt_max(takt_max(turn, takt_min(until_even(tenant, tag), 2 * turn)),
                             tenant->need.of[unit]),
                    tenant->usable.of[unit]);
}

int64_t takt_tenant_left_to_others(const takt_ledger *ledger, int index, int unit, int64_t total,
                                   int64_t weights, int64_t tag)
{
    const takt_tenant *mine = &ledger->tenants[index];
    int64_t left = 0;

    for (int i = 0; i < ledger->tenant_count; i++) {
        const takt_tenant *tenant = &ledger->tenants[i];
        int64_t own = 0;
        if (i == index || tenant->priority != mine->priority || tenant->places == 0)
            continue;
        if (takt_tenant_goes_before(ledger, i, index, unit, total, weights))
            own = left_to(tenant, mine->tag, unit, total, weights);
        left += takt_max(own, takt_min(until_even(tenant, tag), tenant->usable.of[unit]));
    }
    return left;
}

int64_t takt_tenant_share(const takt_tenant *tenant, int64_t total, int64_t weights)
{
    int64_t processes = tenant->in_turn > 1 ? takt_max(tenant->processes, 1) : 1;

    return takt_max(takt_tenant_turn_of(tenant, total, weights) / processes, 1);
}

takt_tenant_turn takt_tenant_turn_among(const takt_ledger *ledger, int at, const takt_ledger *of,
                                        int index, int unit, int64_t total, bool plan)
{
    const takt_place *me = &ledger->line[at], *head = NULL;
    const takt_tenant *mine = &of->tenants[index];
    int64_t weights = takt_tenants_weights(of, mine->priority, -1);
    int64_t before = 0, shares = 0, need = 0, tag = 0, ahead;
    takt_tenant_turn turn = {.share = takt_tenant_share(mine, total, weights),
                             .shares = mine->in_turn > 1 ? takt_line_shares(me) : 1};

    for (int i = 0; i < at; i++) {
        const takt_place *place = &ledger->line[i];
        if (place->tenant != me->tenant || place->aside || place->behind ||
            (of != ledger && place->inside != me->inside))
            continue;
        head = head ? head : place;
        before++;
        shares += takt_line_shares(place);
    }
    need = head ? takt_line_need(head, unit) : 0;
    ahead =
        shares * turn.share + (head ? takt_line_shares(head) * takt_max(need - turn.share, 0) : 0);
    ahead = takt_min(ahead, plan ? mine->wanting.of[unit] - takt_line_wanted(me, unit)
                                 : mine->usable.of[unit] - takt_line_usable(me, unit));
    if (plan && head)
        tag = mine->tag + takt_tenant_step(mine, ahead);
    turn.ahead = takt_tenant_left_to_others(of, index, unit, total, weights, tag) + ahead;
    turn.first = head ? need + before - 1 : 0; /* the order of tenants may change */
    return turn;
}

bool takt_tenants_precede(const takt_ledger *ledger, int i, int at)
{
    const takt_place *other = &ledger->line[i], *place = &ledger->line[at];
    int64_t left, right;

    if (other->priority != place->priority)
        return other->priority < place->priority;
    if (other->tenant == place->tenant)
        return i < at;
    left = takt_tenant_of(ledger, i)->tag;
    right = takt_tenant_of(ledger, at)->tag;
    return left < right || (left == right && other->tenant < place->tenant);
}

int takt_tenants_first(const takt_ledger *ledger)
{
    int first = ledger->line_count;

    for (int at = 0; at < ledger->line_count; at++)
        if (!ledger->line[at].aside &&
            (first == ledger->line_count || takt_tenants_precede(ledger, at, first)))
            first = at;
    return first;
}
