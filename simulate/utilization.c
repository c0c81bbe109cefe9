/*
 * utilization.c: see utilization.h.
 */
#include "simulate/utilization.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

int takt_utilization_open(takt_utilization *utilization, size_t max)
{
    *utilization = (takt_utilization){.first_us = -1, .capacity = max};
    utilization->freed_us = calloc(max, sizeof *utilization->freed_us);
    return utilization->freed_us ? 0 : TAKT_E_NOMEM;
}

void takt_utilization_close(takt_utilization *utilization)
{
    free(utilization->freed_us);
}

static void change(takt_utilization *utilization, int64_t now_us, int by)
{
    utilization->held_us += utilization->held * (now_us - utilization->changed_us);
    utilization->changed_us = now_us;
    utilization->held += by;
    if (utilization->held > utilization->max)
        utilization->max = utilization->held;
}

void takt_utilization_take(takt_utilization *utilization, int64_t now_us)
{
    change(utilization, now_us, 1);
    if (utilization->first_us < 0)
        utilization->first_us = now_us;
    utilization->last_us = now_us;
    utilization->held_by_last_us = utilization->held_us;
    if (utilization->freed_count == 0)
        return;
    takt_histogram_add(&utilization->hand_over,
                       now_us - utilization->freed_us[utilization->first_freed]);
    utilization->first_freed = (utilization->first_freed + 1) % utilization->capacity;
    utilization->freed_count--;
}

void takt_utilization_give_back(takt_utilization *utilization, int64_t now_us)
{
    change(utilization, now_us, -1);
    utilization
        ->freed_us[(utilization->first_freed + utilization->freed_count) % utilization->capacity] =
        now_us;
    if (utilization->freed_count < utilization->capacity)
        utilization->freed_count++;
}

void takt_utilization_lose(takt_utilization *utilization, int64_t now_us)
{
    change(utilization, now_us, -1);
}

int64_t takt_utilization_busy_ppm(const takt_utilization *utilization, int64_t permits)
{
    wide all = (wide)(uint64_t)(utilization->last_us - utilization->first_us) * (uint64_t)permits;

    return all > 0 ? (int64_t)((wide)(uint64_t)utilization->held_by_last_us * 1000000 / all) : 0;
}
