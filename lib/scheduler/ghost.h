/*
 * ghost.h: what waits in a caller's place for a limit in shadow, and the memory for it.
 *
 * A ghost begins with a permit, and for everybody but shadow.c it is one: it has a place in a
 * queue, takes a slot, holds what concurrency gives.  The caller's permit, which may be gone at any
 * time, knows its ghost and not the other way round; memory of ghosts is used again and again, the
 * longest unused first, and is not given back while the scheduler lives, so that a number tells
 * whether a ghost is still the same.
 */
#ifndef TAKT_SCHEDULER_GHOST_H
#define TAKT_SCHEDULER_GHOST_H

#include "base/heap.h"
#include "core/rule.h"
#include "scheduler/tally.h"

/* takt_permit.shadow */
enum {
    TAKT_SHADOW_NONE = 0, /* it waits itself */
    TAKT_SHADOW_PASSED,   /* it has passed a limit without having waited */
    TAKT_SHADOW_GHOST     /* it is a ghost's */
};

#define TAKT_GHOSTS_MAX INT64_C(100000) /* of one limit, at a time */

typedef struct takt_ghost {
    takt_permit permit; /* first; its `line` also lists it among those that hold, rest, are spare */
    takt_node end;      /* among those of which it is known when they give back what they hold */
    takt_link settle;   /* among those whose real cost is to be told */
    int64_t number;
    takt_tally *tally;     /* of the limit that it waits for, or has waited for last */
    takt_tally *home;      /* of the one at which it came to be */
    int64_t entered_at_us; /* when it came to be; by the local clock, all */
    int64_t arrived_at_us; /* at the limit that it waits for */
    int64_t granted_at_us; /* by the last one */
    int64_t work_us;       /* how long the caller's work took; UNKNOWN: it is not done yet */
    int64_t ends_at_us;    /* TAKT_NEVER: it is not in that heap */
    int64_t actual;        /* the real cost, told while it waited; UNKNOWN: it was not */
    bool resting;          /* in that list */
    bool gone;             /* what is left of it is the slot it had */
} takt_ghost;

#define TAKT_GHOST_UNKNOWN INT64_C(-1)

/* All that a scheduler knows of shadows. */
typedef struct takt_shades {
    int64_t now_us;    /* of the last pass */
    takt_link tallies; /* one for each limit that was in shadow */
    takt_heap ends;
    takt_link granted;  /* ghosts that hold something */
    takt_link resting;  /* granted, holding nothing: kept for the sake of takt_settle */
    takt_link settling; /* their real cost is known, and their slot too */
    takt_link spare;
    int64_t resting_count;
    int64_t count; /* ghosts */
    int64_t last_number;
    struct takt_ghost_block *blocks;
} takt_shades;

void takt_shades_init(takt_shades *shades);
void takt_shades_close(takt_shades *shades); /* whatever ghosts there are */

/* The tally of a limit, made if need be; NULL without memory. */
takt_tally *takt_shades_tally(takt_shades *shades, const char *limit);

/* The same if there is one. */
const takt_tally *takt_shades_find(const takt_shades *shades, const char *limit);

/* A ghost of that home, its permit all zeros; NULL: there are too many, or no memory. */
takt_ghost *takt_ghost_new(takt_shades *shades, takt_tally *home);

/* It is in no list and no heap any more. */
void takt_ghost_free(takt_shades *shades, takt_ghost *ghost);

/* The ghost that a permit means, which may be gone; NULL: its memory is another's. */
takt_ghost *takt_ghost_of(const takt_shade *shade);

#endif
