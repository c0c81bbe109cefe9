/*
 * tenant_inside.c: see tenant_inside.h.
 */
#include "core/tenant_inside.h"

#include <string.h>

#include "core/line.h"
#include "core/tenant_name.h"
#include "core/tenants.h"

static bool is_at(const takt_ledger *inner, int at, const takt_place *place)
{
    return at >= 0 && at < inner->line_count && inner->line[at].worker == place->worker &&
           inner->line[at].priority == place->priority;
}

/* A place's index in the innermost line; -1: it has none there.  A claim looks for all places of a
 * subject several times.  Meanwhile one of them may leave its place, so that others move up. */
static int find_inside(const takt_ledger *inner, takt_place *place)
{
    for (int at = place->inside_at; at >= place->inside_at - 1; at--)
        if (is_at(inner, at, place))
            return place->inside_at = at;
    return place->inside_at = takt_line_find(inner, place->worker, place->priority);
}

/* The index + 1 of a place's tenant in the innermost line; 0: it has no place there, or others do
 * not wait for it there. */
static int16_t index_inside(const takt_ledger *ledger, takt_place *place)
{
    const takt_ledger *inner = ledger->inner[0];
    int at = find_inside(inner, place);

    return at >= 0 && !inner->line[at].aside ? inner->line[at].tenant : 0;
}

void takt_tenants_look_inside(const takt_ledger *ledger, int at)
{
    const takt_ledger *inner;
    int16_t subject = ledger->line[at].tenant;

    if (!ledger->within_turns)
        return;
    inner = ledger->inner[0];
    takt_tenants_count_none(inner);
    for (int i = 0; i < ledger->line_count; i++) {
        takt_place *place = &ledger->line[i];
        place->inside = place->tenant == subject ? index_inside(ledger, place) : 0;
        if (place->inside > 0)
            takt_tenant_count_place(&inner->tenants[place->inside - 1], place);
    }
}

/* Whether one place goes after another one in the innermost line: by their tenants, and those of
 * one tenant by their turns there.  Those that have none there go last. */
static bool goes_after(const takt_ledger *inner, const takt_place *a, const takt_place *b)
{
    int64_t left, right;

    if (b->inside == 0)
        return false;
    if (a->inside == 0 || a->inside == b->inside)
        return a->inside == 0 || a->inside_at > b->inside_at;
    left = inner->tenants[a->inside - 1].tag;
    right = inner->tenants[b->inside - 1].tag;
    return left > right || (left == right && a->inside > b->inside);
}

/* Two places exchange their turns. */
static void exchange(takt_place *a, takt_place *b)
{
    takt_place moved = *a;
    int64_t turn = b->turn;

    *a = *b;
    a->turn = moved.turn;
    *b = moved;
    b->turn = turn;
}

/* Sorts the places of a subject. */
static void sort(takt_ledger *ledger, int16_t subject)
{
    takt_place *line = ledger->line;

    for (int i = 0; i < ledger->line_count; i++) {
        int at = i;
        for (int j = i - 1; line[i].tenant == subject && j >= 0; j--) {
            if (line[j].tenant != subject)
                continue;
            if (!goes_after(ledger->inner[0], &line[j], &line[at]))
                break;
            exchange(&line[j], &line[at]);
            at = j;
        }
    }
}

void takt_tenants_arrange(takt_ledger *ledger, const takt_claim *claim)
{
    char name[TAKT_TENANT_TEXT_MAX + 1];
    int16_t last = 0;

    if (!ledger->within_turns)
        return;
    takt_tenant_write(claim->tenant, name);
    for (int at = 0; at < ledger->line_count; at++) {
        int16_t tenant = ledger->line[at].tenant;
        if (tenant == last || strcmp(takt_tenant_of(ledger, at)->name, name) != 0)
            continue;
        takt_tenants_look_inside(ledger, at);
        sort(ledger, tenant);
        last = tenant;
    }
}

takt_tenant_turn takt_tenants_turn(const takt_ledger *ledger, int at, int unit, int64_t total,
                                   bool plan)
{
    const takt_place *me = &ledger->line[at];
    const takt_tenant *subject = takt_tenant_of(ledger, at);
    int64_t weights, tag = 0;
    takt_tenant_turn turn;

    if (!ledger->within_turns || me->inside == 0)
        return takt_tenant_turn_among(ledger, at, ledger, me->tenant - 1, unit, total, plan);
    weights = takt_tenants_weights(ledger, subject->priority, -1);
    turn = takt_tenant_turn_among(ledger, at, ledger->inner[0], me->inside - 1, unit,
                                  takt_tenant_turn_of(subject, total, weights), plan);
    if (plan && turn.ahead > 0)
        tag = subject->tag + takt_tenant_step(subject, turn.ahead);
    turn.ahead += takt_tenant_left_to_others(ledger, me->tenant - 1, unit, total, weights, tag);
    return turn;
}
