/*
 * inner_line.c: see inner_line.h.
 */
#include "core/inner_line.h"

#include "base/integers.h"
#include "core/gaps.h"
#include "core/holders.h"
#include "core/line.h"
#include "core/tenants.h"
#include "core/view.h"

/* Whether its line has tenants or is empty. */
static bool has_turns(const takt_ledger *inner)
{
    return inner->tenant_count > 0 || inner->line_count == 0;
}

void takt_inner_tidy(takt_ledger *ledger, int64_t now_us)
{
    for (int i = 0; i < ledger->inner_count; i++) {
        takt_ledger *inner = ledger->inner[i];
        takt_ledger_tidy_rules(inner, now_us);
        takt_holders_tidy(inner, now_us);
        if (inner->tenant_count == 0)
            continue;
        takt_line_tidy(inner, now_us);
        takt_tenants_tidy(inner, now_us);
    }
}

/* The worker has no places in that line. */
static void leave(takt_ledger *inner, uint64_t worker)
{
    for (int at = inner->line_count - 1; at >= 0; at--)
        if (inner->line[at].worker == worker)
            takt_line_remove(inner, at);
    takt_tenants_trim(inner);
}

bool takt_inner_stand(takt_ledger *ledger, int i, int64_t now_us, const takt_claim *claim,
                      const takt_place *told)
{
    takt_ledger *inner = ledger->inner[i];
    const char *tenant = i > 0 ? claim->tenant : claim->inner_tenant;
    bool foremost = true;

    inner->full = false;
    if (!has_turns(inner))
        return true;
    if (!takt_tenants_join(inner, now_us, claim, tenant,
                           i > 0 ? claim->tenant_weight : claim->inner_weight, 0)) {
        leave(inner, claim->worker);
        inner->full = i == 0 && tenant;
        return inner->numbers->max_waiting == 0;
    }
    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        int at = takt_line_restate(inner, now_us, &told[priority]);
        if (at >= 0)
            inner->line[at].foremost = foremost;
        foremost = foremost && at < 0;
    }
    takt_tenants_assign(inner, claim, tenant);
    takt_tenants_trim(inner);
    return true;
}

int takt_inner_index(const takt_ledger *inner, const takt_place *place)
{
    return inner->tenant_count > 0 ? takt_line_find(inner, place->worker, place->priority) : -1;
}

int64_t takt_inner_free(const takt_ledger *inner)
{
    return inner->full ? 0 : takt_holders_free(inner);
}

/* Whether others are in turn in that line. */
static bool is_contested(const takt_ledger *inner, int at)
{
    for (int i = 0; i < inner->line_count; i++)
        if (i != at && !inner->line[i].aside)
            return true;
    return false;
}

takt_amounts takt_inner_ahead(takt_ledger *inner, int64_t now_us, const takt_place *place,
                              takt_amounts able, int64_t *permits)
{
    int at = takt_inner_index(inner, place);
    const takt_stated *stated;
    takt_place *own;
    takt_view v;

    *permits = takt_inner_free(inner);
    if (at < 0)
        return (takt_amounts){{0}};
    own = &inner->line[at];
    stated = &inner->stated[own->priority];
    own->wanting = takt_min(stated->tokens, able.of[TAKT_UNIT_TOKENS]);
    for (int unit = TAKT_UNIT_MORE; unit < TAKT_UNITS; unit++)
        own->more.of[unit] = takt_min(stated->more.of[unit], able.of[unit]);
    own->held_back = takt_max(own->waiting - able.of[TAKT_UNIT_REQUESTS], 0);
    own->aside = able.of[TAKT_UNIT_REQUESTS] <= 0;
    own->lacking = false;
    if (own->aside)
        return (takt_amounts){{0}};
    takt_view_look(inner, now_us, at, false, &v);
    *permits = v.permits;
    own->lacking = v.permits <= 0;
    return v.ahead;
}

/* What a turn leaves to the place in one line. */
static void look(const takt_ledger *inner, int64_t now_us, int64_t till_us, int at,
                 takt_inner_turn *turn, int i)
{
    const takt_place *place = &inner->line[at];
    takt_view v;
    takt_amounts room = takt_numbers_room(inner->numbers, &inner->state,
                                          takt_max(now_us, inner->blocked_until_us), till_us);

    takt_view_look(inner, now_us, at, false, &v);
    turn->shares[i] = v.shares;
    turn->permits = takt_min(turn->permits, v.permits);
    turn->permit_shares[i] = v.permit_share;
    TAKT_EACH_UNIT(unit, takt_view_units(inner))
    {
        int64_t need = takt_line_need(place, unit), share = v.share.of[unit];
        int64_t *left = &turn->left.of[takt_unit_by(inner->units, unit)];
        turn->usable[i].of[unit] = takt_view_usable(share, need);
        if (is_contested(inner, at))
            *left = takt_min(*left, takt_min(takt_view_turn(share, need, v.shares),
                                             room.of[unit] - v.ahead.of[unit]));
    }
}

takt_inner_turn takt_inner_turn_of(const takt_ledger *ledger, int64_t now_us,
                                   const takt_place *place)
{
    takt_inner_turn turn = {.permits = TAKT_NEVER};

    TAKT_EACH_UNIT(unit, TAKT_UNITS)
    turn.left.of[unit] = unit < TAKT_UNIT_MORE ? TAKT_ROOM_MAX : TAKT_EXACT_MAX;
    for (int i = 0; i < ledger->inner_count; i++) {
        turn.at[i] = takt_inner_index(ledger->inner[i], place);
        if (turn.at[i] >= 0)
            look(ledger->inner[i], now_us, now_us + ledger->numbers->lookahead_us, turn.at[i],
                 &turn, i);
        else
            turn.permits = takt_min(turn.permits, takt_inner_free(ledger->inner[i]));
    }
    return turn;
}

void takt_inner_served(takt_ledger *ledger, const takt_place *place, const takt_inner_turn *turn,
                       takt_amounts claimed)
{
    for (int i = 0; i < ledger->inner_count; i++) {
        takt_ledger *inner = ledger->inner[i];
        takt_amounts first = takt_amounts_by(
            inner->units, takt_amounts_of(place->need, ledger->stated[place->priority].first));
        takt_amounts given = takt_amounts_by(inner->units, claimed);
        int64_t used = 0;
        takt_stated *stated;
        takt_place *own;
        if (turn->at[i] < 0)
            continue;
        own = &inner->line[turn->at[i]];
        own->wanting = takt_max(own->wanting - given.of[TAKT_UNIT_TOKENS], 0);
        stated = &inner->stated[own->priority];
        stated->tokens = takt_max(stated->tokens - given.of[TAKT_UNIT_TOKENS], 0);
        own->waiting = place->waiting;
        own->accepted = takt_max(own->accepted - given.of[TAKT_UNIT_REQUESTS], 0);
        own->need = first.of[TAKT_UNIT_TOKENS];
        for (int unit = TAKT_UNIT_MORE; unit < takt_view_units(inner); unit++) {
            own->more.of[unit] = takt_max(own->more.of[unit] - given.of[unit], 0);
            stated->more.of[unit] = takt_max(stated->more.of[unit] - given.of[unit], 0);
            own->needs.of[unit] = first.of[unit];
        }
        TAKT_EACH_UNIT(unit, takt_view_units(inner))
        used = takt_max(used, takt_ceil_div(given.of[unit], turn->usable[i].of[unit]));
        if (inner->numbers->concurrency > 0)
            used =
                takt_max(used, takt_ceil_div(given.of[TAKT_UNIT_REQUESTS], turn->permit_shares[i]));
        takt_tenants_charge(inner, turn->at[i], given);
        if (given.of[TAKT_UNIT_TOKENS] > 0)
            own->left = takt_max(turn->shares[i] - used, 0);
        if (own->waiting <= 0)
            takt_line_remove(inner, turn->at[i]);
        else if (given.of[TAKT_UNIT_TOKENS] > 0 && own->left == 0)
            takt_line_end_turn(inner, turn->at[i], 0, 0);
        takt_tenants_trim(inner);
    }
}

/* Whether a place that is alone in the inner line has long turns there.  It has them only if its
 * worker is alone in the outermost line, so that nobody else plans around its slots, and if the
 * worker's other places lose no slots by them.  With a shorter lookahead of the inner limit its
 * claims would come too late. */
static bool has_long_turns(const takt_ledger *ledger, const takt_ledger *inner,
                           const takt_place *place)
{
    for (int i = 0; i < ledger->line_count; i++)
        if (ledger->line[i].process != place->process)
            return false;
    return place->tenant > 0 && inner->numbers->lookahead_us == ledger->numbers->lookahead_us &&
           (ledger->line_count == 1 || takt_gaps_suit(ledger, inner->numbers));
}

int64_t takt_inner_turn_from(const takt_ledger *ledger, int64_t now_us, const takt_place *place,
                             bool in_line)
{
    int64_t from_us = now_us;

    for (int i = 0; i < ledger->inner_count; i++) {
        const takt_ledger *inner = ledger->inner[i];
        int at = takt_inner_index(inner, place);
        takt_view v;
        if (at < 0 || inner->line[at].aside ||
            !(is_contested(inner, at) || (in_line && has_long_turns(ledger, inner, place))))
            continue;
        takt_view_look(inner, now_us, at, true, &v);
        from_us = takt_max(from_us,
                           takt_view_turn_from(inner, now_us, &inner->line[at], &v, false, false));
    }
    return from_us;
}

void takt_inner_plan(takt_ledger *ledger, int64_t now_us, const takt_place *place,
                     int64_t again_at_us)
{
    again_at_us = takt_min(takt_max(again_at_us, now_us), now_us + TAKT_PARKED_MAX_US);
    for (int i = 0; i < ledger->inner_count; i++) {
        int at = takt_inner_index(ledger->inner[i], place);
        if (at < 0)
            continue;
        ledger->inner[i]->line[at].again_at_us = again_at_us;
        ledger->inner[i]->line[at].expires_at_us = again_at_us + TAKT_SILENT_US;
    }
}
