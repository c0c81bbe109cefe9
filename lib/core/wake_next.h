/*
 * wake_next.h: which workers that lack a permit would get one now.
 */
#ifndef TAKT_CORE_WAKE_NEXT_H
#define TAKT_CORE_WAKE_NEXT_H

#include "core/ledger.h"

/* Wakes the workers that lack a permit and would get one now, after those before them have taken
 * theirs.  A worker that is woken without need would wake the next one without need.
 * `ledger_no`: that ledger's number. */
void takt_wake_next(const takt_ledger *ledger, uint64_t claimer, int ledger_no, takt_award *award);

#endif
