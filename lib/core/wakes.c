/*
 * wakes.c: see wakes.h.
 */
#include "core/wakes.h"

void takt_wakes_add(takt_award *award, const takt_place *place, int ledger_no)
{
    uint64_t worker = place->process ? place->process : place->worker;

    for (int i = 0; i < award->wake_count; i++)
        if (award->wakes[i] == worker && award->wake_ledgers[i] == ledger_no)
            return;
    if (award->wake_count == TAKT_WAKES_MAX)
        return;
    award->wakes[award->wake_count] = worker;
    award->wake_ledgers[award->wake_count++] = (int8_t)ledger_no;
}
