/*
 * lend.c: see lend.h.
 */
#include "core/lend.h"

#include "base/integers.h"
#include "core/inner.h"
#include "core/inner_line.h"
#include "core/line.h"
#include "core/tenants.h"

/* The rates of levels are compared by the tokens of this many lookaheads. */
#define SCARCE_LOOKAHEADS 16
/* With fewer slots in a lookahead a place gets none that the places before it want. */
#define SLOTS_TO_LEND 4

/* Whether its inner limits give a place's tenant no more than its part of this one, which others
 * want as well. */
static bool is_scarce(const takt_ledger *ledger, int at, takt_amounts one)
{
    int64_t span_us = SCARCE_LOOKAHEADS * ledger->numbers->lookahead_us;
    takt_amounts outer = takt_amounts_by(ledger->units, one);
    int64_t part = takt_tenants_part(ledger, at, span_us, outer);

    if (part == takt_tenants_part(ledger, -1, span_us, outer) ||
        takt_tenants_part(ledger, -1, ledger->numbers->lookahead_us, outer) < SLOTS_TO_LEND)
        return false;
    for (int i = 0; i < ledger->inner_count; i++) {
        const takt_ledger *inner = ledger->inner[i];
        int own = i == 0 && ledger->within_turns ? -1 : takt_inner_index(inner, &ledger->line[at]);
        if (takt_tenants_part(inner, own, span_us, takt_amounts_by(inner->units, one)) <= part)
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
    for (int me = 0; me < ledger->line_count; me++) {
        takt_amounts one;
        int64_t due_us;
        if (ledger->line[me].worker != worker)
            continue;
        one =
            takt_amounts_of(ledger->line[me].need, ledger->stated[ledger->line[me].priority].first);
        due_us = takt_inner_due(ledger, takt_max(now_us, ledger->blocked_until_us), one);
        if (due_us > now_us && due_us != TAKT_NEVER && is_scarce(ledger, me, one))
            set_due(ledger, me, due_us);
    }
    takt_tenants_open(ledger, now_us);
}
