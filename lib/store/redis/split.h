/*
 * split.h: slots whose keys are on two nodes (TRYAGAIN), and when their next calls may be sent.
 * Pure.
 *
 * A process sends one call at a time about such a slot, with pauses of 20, 40 ... 200 ms. The
 * workers of a ledger send about five calls a second together: each multiplies 200 ms by their
 * number.
 */
#ifndef TAKT_STORE_REDIS_SPLIT_H
#define TAKT_STORE_REDIS_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#define TAKT_REDIS_SPLITS_MAX 8 /* a cluster moves few slots at once */

typedef struct takt_redis_split {
    int slot; /* -1: not in use */
    int attempts;
    uint64_t pause_ms; /* after the next attempt */
    uint64_t due_ms;   /* of the next attempt */
} takt_redis_split;

typedef struct takt_redis_splits {
    takt_redis_split all[TAKT_REDIS_SPLITS_MAX];
    int count; /* in use */
    uint64_t random;
} takt_redis_splits;

void takt_redis_splits_init(takt_redis_splits *splits, uint64_t seed);

/* A call about the slot was answered with TRYAGAIN. `workers`: as many share its ledger; 0: not
 * known. Returns when the next call about the slot is due. */
uint64_t takt_redis_splits_add(takt_redis_splits *splits, int slot, int64_t workers,
                               uint64_t now_ms);

/* Whether a call about the slot has to wait, until *due_ms; if not, the next one has to. */
bool takt_redis_splits_hold(takt_redis_splits *splits, int slot, uint64_t now_ms, uint64_t *due_ms);

/* A node has served a call about the slot, or the slot has moved. Returns whether it was split. */
bool takt_redis_splits_end(takt_redis_splits *splits, int slot);

#endif
