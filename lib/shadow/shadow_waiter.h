/*
 * shadow_waiter.h: what waits at a shadow limit in a caller's place, and its memory.
 *
 * A shadow waiter begins with a permit, and for all files but shadow.c it is one: it has a place in
 * a queue, takes a slot, holds what concurrency gives.  The caller's permit may disappear at any
 * time, so it refers to its shadow waiter and not the other way round.  Memory of shadow waiters is
 * reused, the longest unused first, and not freed while the scheduler lives.  So a number tells
 * whether a shadow waiter is still the same.
 */
#ifndef TAKT_SHADOW_SHADOW_WAITER_H
#define TAKT_SHADOW_SHADOW_WAITER_H

#include "base/heap.h"
#include "scheduler/scheduler.h"
#include "shadow/shadow_stats.h"

#define TAKT_SHADOW_WAITERS_MAX INT64_C(100000) /* of one limit at a time */

typedef struct takt_shadow_waiter {
    /* first; its `line` is also its link in the lists of holding, resting and spare ones */
    takt_permit permit;
    takt_node end;    /* in the heap of those with a known time of release */
    takt_link settle; /* in the list of those to settle */
    int64_t number;
    /* Of the limits that it waits for, or has waited for, the outermost first. */
    takt_shadow_stats *stats[TAKT_LEVELS_MAX];
    int stats_count;
    takt_shadow_stats *home; /* of the limit that counts it among its shadow waiters */
    int64_t entered_at_us;   /* when it began; by the local clock, like all times here */
    int64_t granted_at_us;
    int64_t work_us;    /* how long the caller's work took; UNKNOWN: not done yet */
    int64_t ends_at_us; /* TAKT_NEVER: not in the heap */
    takt_amounts used;  /* reported while it waited; of tokens UNKNOWN: not reported */
    bool unbegun;       /* reported: the work was not begun */
    bool resting;       /* in that list */
    bool gone;          /* only its slot remains */
} takt_shadow_waiter;

#define TAKT_SHADOW_UNKNOWN INT64_C(-1)

/* The shadow waiters of one scheduler. */
typedef struct takt_shadows {
    takt_scheduler *scheduler;
    int64_t now_us;      /* of the last pass */
    takt_link all_stats; /* one for each limit that was a shadow limit */
    takt_heap ends;
    takt_link resting;  /* granted, holding nothing: kept for takt_settle */
    takt_link settling; /* their real cost and their slot are known */
    takt_link spare;
    int64_t resting_count;
    int64_t count; /* shadow waiters */
    int64_t last_number;
    struct takt_shadow_waiter_block *blocks;
} takt_shadows;

void takt_shadows_init(takt_shadows *shadows, takt_scheduler *scheduler);

/* Before the scheduler closes, or after it; there may still be shadow waiters. */
void takt_shadows_close(takt_shadows *shadows);

/* The statistics of a limit, made if necessary; NULL: no memory. */
takt_shadow_stats *takt_shadows_stats(takt_shadows *shadows, const char *limit);

/* The same if they exist. */
const takt_shadow_stats *takt_shadows_find_stats(const takt_shadows *shadows, const char *limit);

/* A shadow waiter that begins at `home`, its permit all zeros; NULL: there are too many, or no
 * memory. */
takt_shadow_waiter *takt_shadow_waiter_new(takt_shadows *shadows, takt_shadow_stats *home);

/* It must be in no list and no heap. */
void takt_shadow_waiter_free(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter);

/* The shadow waiter that a permit refers to, which may be gone; NULL: its memory is reused. */
takt_shadow_waiter *takt_shadow_waiter_of(const takt_shadow_ref *ref);

#endif
