/*
 * zone_load.h: timezones by name, from the system's tz database: the files below
 * /usr/share/zoneinfo, or below $TZDIR.  Decides which names are looked for and where; what is in a
 * file is tzif.c's affair.
 */
#ifndef TAKT_ZONE_ZONE_LOAD_H
#define TAKT_ZONE_ZONE_LOAD_H

#include <takt/error.h>

#include "zone/zone.h"

/*
 * The zone of that name: loaded once, and the same pointer for as long as the process lives, from
 * any thread.  A tz database that is updated is read by processes that start after that.  0,
 * TAKT_E_NOMEM, or TAKT_E_POLICY with what is wrong in error.
 */
int takt_zone_load(const char *name, const takt_zone **zone, takt_error *error);

/* The same for a name of `size` bytes, as a ledger's text has it; NULL if this host knows no such
 * zone. */
const takt_zone *takt_zone_named(const char *name, size_t size);

#endif
