/*
 * wakes.h: the workers that an award names, because they should claim now.  Who these are is
 * decided elsewhere: by award.c, overflow.c and tenants.c.
 */
#ifndef TAKT_CORE_WAKES_H
#define TAKT_CORE_WAKES_H

#include "core/ledger.h"

/* Names a place's worker once, if there is space. */
void takt_wakes_add(takt_award *award, const takt_place *place);

#endif
