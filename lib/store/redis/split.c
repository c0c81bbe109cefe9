/*
 * split.c: see split.h.
 */
#include "store/redis/split.h"

#include <stddef.h>

#include "base/integers.h"
#include "base/random.h"

#define PAUSE_FIRST_MS 20
#define PAUSE_LAST_MS  200
#define WORKERS_MAX    300 /* longer pauses than a minute are of no use */

void takt_redis_splits_init(takt_redis_splits *splits, uint64_t seed)
{
    splits->count = 0;
    splits->random = seed;
    for (int i = 0; i < TAKT_REDIS_SPLITS_MAX; i++)
        splits->all[i].slot = -1;
}

static takt_redis_split *find(takt_redis_splits *splits, int slot)
{
    for (int i = 0; i < TAKT_REDIS_SPLITS_MAX; i++)
        if (splits->all[i].slot == slot)
            return &splits->all[i];
    return NULL;
}

/* One that is not in use, or has been due for the longest time. */
static takt_redis_split *make(takt_redis_splits *splits, int slot)
{
    takt_redis_split *split = find(splits, -1);

    splits->count += split != NULL;
    if (!split) {
        split = splits->all;
        for (int i = 1; i < TAKT_REDIS_SPLITS_MAX; i++)
            if (splits->all[i].due_ms < split->due_ms)
                split = &splits->all[i];
    }
    *split = (takt_redis_split){.slot = slot};
    return split;
}

/* `pause_ms` and up to a quarter more. */
static uint64_t with_jitter(takt_redis_splits *splits, uint64_t pause_ms)
{
    return pause_ms + (uint64_t)takt_random_below(&splits->random, (int64_t)pause_ms / 4 + 1);
}

uint64_t takt_redis_splits_add(takt_redis_splits *splits, int slot, int64_t workers,
                               uint64_t now_ms)
{
    takt_redis_split *split = find(splits, slot);
    int64_t pause_ms;

    if (!split)
        split = make(splits, slot);
    pause_ms = split->attempts < 4 ? PAUSE_FIRST_MS << split->attempts : PAUSE_LAST_MS;
    if (workers > 1)
        pause_ms = takt_min(workers, WORKERS_MAX) * PAUSE_LAST_MS;
    split->attempts++;
    split->pause_ms = with_jitter(splits, (uint64_t)pause_ms);
    split->due_ms = now_ms + split->pause_ms;
    return split->due_ms;
}

bool takt_redis_splits_hold(takt_redis_splits *splits, int slot, uint64_t now_ms, uint64_t *due_ms)
{
    takt_redis_split *split = splits->count > 0 ? find(splits, slot) : NULL;

    if (!split)
        return false;
    *due_ms = split->due_ms;
    if (now_ms < split->due_ms)
        return true;
    split->due_ms = now_ms + split->pause_ms;
    return false;
}

bool takt_redis_splits_end(takt_redis_splits *splits, int slot)
{
    takt_redis_split *split = splits->count > 0 ? find(splits, slot) : NULL;

    if (!split)
        return false;
    split->slot = -1;
    splits->count--;
    return true;
}
