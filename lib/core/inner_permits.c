/*
 * inner_permits.c: see inner_permits.h.
 */
#include "core/inner_permits.h"

#include "base/integers.h"
#include "core/holders.h"
#include "core/inner_line.h"
#include "core/view.h"

bool takt_inner_permits_stale(const takt_ledger *ledger, const takt_claim *claim)
{
    for (int i = 0; i < ledger->inner_count; i++)
        if (takt_holders_is_stale(ledger->inner[i], claim))
            return true;
    return false;
}

int64_t takt_inner_permits_state(takt_ledger *ledger, int64_t now_us, const takt_claim *claim)
{
    int64_t held = takt_holders_accepted(ledger, claim, claim->holding);

    for (int i = 0; i < ledger->inner_count; i++)
        held = takt_holders_accepted(ledger->inner[i], claim, held);
    for (int i = 0; i < ledger->inner_count; i++)
        takt_holders_record(ledger->inner[i], now_us, claim, held);
    takt_holders_record(ledger, now_us, claim, held);
    return held;
}

void takt_inner_permits_give(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                             int64_t count)
{
    for (int i = 0; i < ledger->inner_count; i++)
        if (ledger->inner[i]->numbers->concurrency > 0)
            takt_holders_give(ledger->inner[i], now_us, claim, count);
}

int64_t takt_inner_permits_number(takt_ledger *ledger, int64_t now_us, int64_t count)
{
    int64_t first = 0;

    for (int i = 0; i < ledger->inner_count; i++) {
        takt_ledger *inner = ledger->inner[i];
        int64_t fence;
        if (inner->numbers->concurrency == 0)
            continue;
        fence = takt_holders_next_fence(inner, now_us);
        inner->fence = fence + count - 1;
        first = first ? first : fence;
    }
    return first;
}

/* The end of a lease wakes nobody, so the first in line claims then. */
static int64_t again_at(const takt_ledger *inner, int64_t now_us, int at)
{
    int64_t keepalive_us = now_us + TAKT_KEEPALIVE_US;
    takt_view v;

    takt_view_look(inner, now_us, at, true, &v);
    if (v.ahead.of[TAKT_UNIT_TOKENS] > 0)
        return keepalive_us;
    return takt_min(takt_holders_over_at(inner, keepalive_us), keepalive_us);
}

int64_t takt_inner_permits_again_at(const takt_ledger *ledger, int64_t now_us,
                                    const takt_place *place)
{
    int64_t again_us = now_us;

    for (int i = 0; i < ledger->inner_count; i++) {
        const takt_ledger *inner = ledger->inner[i];
        int at = takt_inner_index(inner, place);
        if (takt_inner_free(inner) == TAKT_NEVER)
            continue;
        if (at >= 0 && inner->line[at].lacking)
            again_us = takt_max(again_us, again_at(inner, now_us, at));
        else if (at < 0 && takt_inner_free(inner) == 0)
            again_us = takt_max(again_us, now_us + TAKT_KEEPALIVE_US);
    }
    return again_us;
}
