/*
 * wakes.c: see wakes.h.
 */
#include "core/wakes.h"

void takt_wakes_add(takt_award *award, const takt_place *place)
{
    uint64_t worker = place->client ? place->client : place->worker;

    for (int i = 0; i < award->wake_count; i++)
        if (award->wakes[i] == worker)
            return;
    if (award->wake_count < TAKT_WAKES_MAX)
        award->wakes[award->wake_count++] = worker;
}
