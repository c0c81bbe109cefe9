/*
 * test_split.c: the pauses between calls about a slot whose keys are on two nodes.
 */
#include <criterion/criterion.h>

#include "store/redis/split.h"

static takt_redis_splits splits;

static void begin(void)
{
    takt_redis_splits_init(&splits, 7);
}

static void expect_between(uint64_t pause_ms, uint64_t least_ms)
{
    cr_expect(pause_ms >= least_ms && pause_ms <= least_ms + least_ms / 4, "%d, not %d",
              (int)pause_ms, (int)least_ms);
}

Test(split, pauses_grow, .init = begin)
{
    static const uint64_t pauses[] = {20, 40, 80, 160, 200, 200, 200};

    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++)
        expect_between(takt_redis_splits_add(&splits, 5, i % 2, 1000) - 1000, pauses[i]);
}

Test(split, each_worker_leaves_room_for_the_others, .init = begin)
{
    expect_between(takt_redis_splits_add(&splits, 5, 2, 1000) - 1000, 400);
    expect_between(takt_redis_splits_add(&splits, 5, 16, 1000) - 1000, 3200);
    expect_between(takt_redis_splits_add(&splits, 5, INT64_MAX, 1000) - 1000, 60000);
}

/* One call is sent when it is due, and the others wait for it. */
Test(split, one_call_at_a_time, .init = begin)
{
    uint64_t due_ms = takt_redis_splits_add(&splits, 5, 1, 1000), until_ms;

    cr_expect(takt_redis_splits_hold(&splits, 5, due_ms - 1, &until_ms));
    cr_expect_eq(until_ms, due_ms);
    cr_expect(!takt_redis_splits_hold(&splits, 6, due_ms - 1, &until_ms), "another slot");
    cr_expect(!takt_redis_splits_hold(&splits, 5, due_ms, &until_ms));
    cr_expect(takt_redis_splits_hold(&splits, 5, due_ms, &until_ms));
    expect_between(until_ms - due_ms, 20);
    cr_expect(takt_redis_splits_end(&splits, 5));
    cr_expect(!takt_redis_splits_hold(&splits, 5, due_ms, &until_ms));
    cr_expect(!takt_redis_splits_end(&splits, 5));
    cr_expect_eq(splits.count, 0);
}

/* Of too many slots the one that was due first is forgotten. */
Test(split, few_are_remembered, .init = begin)
{
    uint64_t until_ms;

    for (int slot = 0; slot <= TAKT_REDIS_SPLITS_MAX; slot++)
        (void)takt_redis_splits_add(&splits, slot, 1, (uint64_t)(slot == 3 ? 100 : 1000 + slot));
    cr_expect_eq(splits.count, TAKT_REDIS_SPLITS_MAX);
    cr_expect(!takt_redis_splits_hold(&splits, 3, 0, &until_ms));
    cr_expect(takt_redis_splits_hold(&splits, 2, 0, &until_ms));
    cr_expect(takt_redis_splits_hold(&splits, TAKT_REDIS_SPLITS_MAX, 0, &until_ms));
}
