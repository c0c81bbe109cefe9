/*
 * use.c: see use.h.
 */
#include "simulate/use.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

int takt_use_open(takt_use *use, size_t max)
{
    *use = (takt_use){.first_us = -1, .capacity = max};
    use->freed_us = calloc(max, sizeof *use->freed_us);
    return use->freed_us ? 0 : TAKT_E_NOMEM;
}

void takt_use_close(takt_use *use)
{
    free(use->freed_us);
}

static void change(takt_use *use, int64_t now_us, int by)
{
    use->held_us += use->held * (now_us - use->changed_us);
    use->changed_us = now_us;
    use->held += by;
    if (use->held > use->max)
        use->max = use->held;
}

void takt_use_take(takt_use *use, int64_t now_us)
{
    change(use, now_us, 1);
    if (use->first_us < 0)
        use->first_us = now_us;
    use->last_us = now_us;
    use->held_by_last_us = use->held_us;
    if (use->freed_count == 0)
        return;
    takt_histogram_add(&use->hand_over, now_us - use->freed_us[use->first_freed]);
    use->first_freed = (use->first_freed + 1) % use->capacity;
    use->freed_count--;
}

void takt_use_give_back(takt_use *use, int64_t now_us)
{
    change(use, now_us, -1);
    use->freed_us[(use->first_freed + use->freed_count) % use->capacity] = now_us;
    if (use->freed_count < use->capacity)
        use->freed_count++;
}

void takt_use_lose(takt_use *use, int64_t now_us)
{
    change(use, now_us, -1);
}

int64_t takt_use_busy_ppm(const takt_use *use, int64_t permits)
{
    wide all = (wide)(uint64_t)(use->last_us - use->first_us) * (uint64_t)permits;

    return all > 0 ? (int64_t)((wide)(uint64_t)use->held_by_last_us * 1000000 / all) : 0;
}
