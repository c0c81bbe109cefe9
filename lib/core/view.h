/*
 * view.h: what a place in line may take now: the room, its share, what it leaves to the places
 * before it, and when there will be room for its next turn.
 */
#ifndef TAKT_CORE_VIEW_H
#define TAKT_CORE_VIEW_H

#include "core/ledger.h"

/* The situation of one place in line. */
typedef struct takt_view {
    takt_amounts room;   /* what has slots due by now + lookahead and is not yet given away */
    takt_amounts share;  /* what a turn may take for each process of the worker */
    int64_t shares;      /* that are left of this turn */
    takt_amounts ahead;  /* part of the room that is left to the places before this one */
    takt_amounts first;  /* what the places before this one want in any case */
    takt_amounts urgent; /* what higher priorities want */
    int64_t permits;     /* permits that this turn may take */
    int64_t permit_share;
    bool shared; /* others of its priority are in turn; there are neither tenants nor permits */
} takt_view;

/* The situation of the place `at`.  To `plan` its next claim `ahead` is the least that the places
 * before it take: they may be done with their turns before. */
void takt_view_look(const takt_ledger *ledger, int64_t now_us, int at, bool plan, takt_view *view);

/* How many units the line looks at. */
int takt_view_units(const takt_ledger *ledger);

/* takt_numbers_due, with the gaps. */
int64_t takt_view_due(const takt_ledger *ledger, int64_t from_us, takt_amounts n);

/* What waiters that need so much can use of a share, and what a turn of so many shares may take. */
int64_t takt_view_usable(int64_t share, int64_t need);
int64_t takt_view_turn(int64_t share, int64_t need, int64_t shares);

/* In a line with weights a place waits until there is room for a share, of which it can `use` that
 * much, or for what it will plan for: a part of a share counts as one, and parts of different
 * weights are not in proportion. */
bool takt_view_too_little(const takt_ledger *ledger, const takt_place *place,
                          const takt_amounts *left, const takt_amounts *use);

/* From when on there is room for the place's next turn.  The time is early enough to have the slots
 * half a lookahead before they are due, including the first one of a rule with uneven slots.  A
 * `weighed` place takes nothing before there is room for a share.  In a shared line a place that
 * claims earlier gets nothing, because parts of turns are not equal.  To `plan` its next claim, its
 * turn is then a share: it may want more by then. */
int64_t takt_view_turn_from(const takt_ledger *ledger, int64_t now_us, const takt_place *place,
                            const takt_view *view, bool weighed, bool plan);

/* When the place should claim for its next turn: not at once. */
int64_t takt_view_room_at(const takt_ledger *ledger, int64_t now_us, const takt_place *place,
                          const takt_view *view, bool weighed);

#endif
