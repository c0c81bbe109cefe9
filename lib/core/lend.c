/*
 * lend.c: see lend.h.
 */
#include "core/lend.h"

#include "base/integers.h"
#include "core/due.h"
#include "core/gaps.h"
#include "core/inner.h"
#include "core/inner_line.h"
#include "core/line.h"
#include "core/tenants.h"
#include "rules/window.h"

/* For how many requests like that one the rules give enough in a span of time.  For a place (at >=
 * 0) it is the part of its tenant. */
static int64_t part_of(const takt_ledger *ledger, int at, int64_t span_us, takt_amounts one)
{
    takt_amounts through = takt_numbers_throughput(ledger->numbers, &ledger->state, span_us);
    int64_t weight = 1, weights = 1, count = INT64_MAX;

    if (at >= 0) {
        const takt_tenant *mine = takt_tenant_of(ledger, at);
        takt_tenants_count(ledger);
        weight = mine->weight;
        weights = 0;
        for (int i = 0; i < ledger->tenant_count; i++)
            if (ledger->tenants[i].priority == mine->priority && ledger->tenants[i].all > 0)
                weights += ledger->tenants[i].weight;
    }
    TAKT_EACH_UNIT(unit, takt_numbers_units(ledger->numbers))
    count = takt_min(count,
                     takt_mul_div(through.of[unit], weight, weights) / takt_max(one.of[unit], 1));
    return count;
}

/* Whether its inner limits give a place's tenant no more than its part of this one, which others
 * want as well. */
static bool is_scarce(const takt_ledger *ledger, int64_t from_us, int at, takt_amounts one)
{
    bool whole = takt_inner_is_whole(ledger, ledger->line[at].worker, from_us);
    int64_t span_us = TAKT_LEND_LOOKAHEADS * ledger->numbers->lookahead_us;
    takt_amounts outer = takt_amounts_by(ledger->units, one);
    int64_t part = part_of(ledger, at, span_us, outer);

    if (part == part_of(ledger, -1, span_us, outer) ||
        part_of(ledger, -1, ledger->numbers->lookahead_us, outer) < TAKT_LEND_SLOTS)
        return false;
    for (int i = 0; i < ledger->inner_count; i++) {
        const takt_ledger *inner = ledger->inner[i];
        int own = i == 0 && ledger->within_turns ? -1 : takt_inner_index(inner, &ledger->line[at]);
        int64_t theirs = part_of(inner, own, span_us, takt_amounts_by(inner->units, one));
        if ((whole ? takt_gaps_leave(ledger, inner->numbers, theirs) : theirs) <= part)
            return true;
    }
    return false;
}

/* The places of one priority that stand in the innermost line as well are due at that instant. */
static void set_due(takt_ledger *ledger, int me, int64_t due_us)
{
    for (int at = 0; at < ledger->line_count; at++) {
        takt_place *place = &ledger->line[at];
        if (place->priority == ledger->line[me].priority &&
            (at == me || takt_inner_index(ledger->inner[0], place) >= 0))
            place->due_in_us = takt_max(due_us - (place->expires_at_us - TAKT_SILENT_US), 0);
    }
}

void takt_lend_note(takt_ledger *ledger, int64_t now_us, uint64_t worker)
{
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);

    for (int me = 0; me < ledger->line_count; me++) {
        takt_amounts one;
        int64_t due_us;
        if (ledger->line[me].worker != worker)
            continue;
        one =
            takt_amounts_of(ledger->line[me].need, ledger->stated[ledger->line[me].priority].first);
        due_us = takt_inner_due(ledger, from_us, one);
        if (due_us > now_us && due_us != TAKT_NEVER && is_scarce(ledger, from_us, me, one))
            set_due(ledger, me, due_us);
    }
    takt_due_open(ledger, now_us);
}
