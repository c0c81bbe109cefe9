/*
 * shadow_waiter.h: what waits in a caller's place for a limit in shadow, and the memory for it.
 *
 * A shadow waiter begins with a permit, and for everybody but shadow.c it is one: it has a place in
 * a queue, takes a slot, holds what concurrency gives.  The caller's permit, which may be gone at
 * any time, knows its shadow waiter and not the other way round; memory of shadow waiters is used
 * again and again, the longest unused first, and is not given back while the scheduler lives, so
 * that a number tells whether a shadow waiter is still the same.
 */
#ifndef TAKT_SHADOW_SHADOW_WAITER_H
#define TAKT_SHADOW_SHADOW_WAITER_H

#include "base/heap.h"
#include "scheduler/scheduler.h"
#include "shadow/shadow_stats.h"

/* takt_permit.shadow */
enum {
    TAKT_SHADOW_NONE = 0, /* it waits itself */
    TAKT_SHADOW_PASSED,   /* it has passed a limit without having waited */
    TAKT_SHADOW_WAITS     /* it is a shadow waiter's */
};

#define TAKT_SHADOW_WAITERS_MAX INT64_C(100000) /* of one limit, at a time */

typedef struct takt_shadow_waiter {
    takt_permit permit; /* first; its `line` also lists it among those that hold, rest, are spare */
    takt_node end;      /* among those of which it is known when they give back what they hold */
    takt_link settle;   /* among those whose real cost is to be told */
    int64_t number;
    takt_shadow_stats *shadow_stats; /* of the limit that it waits for, or has waited for last */
    takt_shadow_stats *home;         /* of the one at which it came to be */
    int64_t entered_at_us;           /* when it came to be; by the local clock, all */
    int64_t arrived_at_us;           /* at the limit that it waits for */
    int64_t granted_at_us;           /* by the last one */
    int64_t work_us;    /* how long the caller's work took; UNKNOWN: it is not done yet */
    int64_t ends_at_us; /* TAKT_NEVER: it is not in that heap */
    int64_t actual;     /* the real cost, told while it waited; UNKNOWN: it was not */
    bool resting;       /* in that list */
    bool gone;          /* what is left of it is the slot it had */
} takt_shadow_waiter;

#define TAKT_SHADOW_UNKNOWN INT64_C(-1)

/* The shadow waiters of one scheduler. */
typedef struct takt_shadows {
    takt_scheduler *scheduler;
    int64_t now_us;      /* of the last pass */
    takt_link all_stats; /* one for each limit that was in shadow */
    takt_heap ends;
    takt_link resting;  /* granted, holding nothing: kept for the sake of takt_settle */
    takt_link settling; /* their real cost is known, and their slot too */
    takt_link spare;
    int64_t resting_count;
    int64_t count; /* shadow waiters */
    int64_t last_number;
    struct takt_shadow_waiter_block *blocks;
} takt_shadows;

void takt_shadows_init(takt_shadows *shadows, takt_scheduler *scheduler);

/* Before the scheduler closes, or after: whatever shadow waiters there are. */
void takt_shadows_close(takt_shadows *shadows);

/* The statistics of a limit, made if need be; NULL without memory. */
takt_shadow_stats *takt_shadows_stats(takt_shadows *shadows, const char *limit);

/* The same if there is one. */
const takt_shadow_stats *takt_shadows_find_stats(const takt_shadows *shadows, const char *limit);

/* A shadow waiter of that home, its permit all zeros; NULL: there are too many, or no memory. */
takt_shadow_waiter *takt_shadow_waiter_new(takt_shadows *shadows, takt_shadow_stats *home);

/* It is in no list and no heap any more. */
void takt_shadow_waiter_free(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter);

/* The shadow waiter that a permit means, which may be gone; NULL: its memory is another's. */
takt_shadow_waiter *takt_shadow_waiter_of(const takt_shadow_ref *ref);

#endif
