/*
 * wakes.h: the workers that an award names, because they should claim now.  Who these are is
 * decided elsewhere: by wake_next.c, overflow.c and claim_plan.c.
 */
#ifndef TAKT_CORE_WAKES_H
#define TAKT_CORE_WAKES_H

#include "core/ledger.h"

/* Names the worker of a place once, if there is space.  `ledger_no`: whose line has the place. */
void takt_wakes_add(takt_award *award, const takt_place *place, int ledger_no);

#endif
