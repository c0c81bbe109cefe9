/*
 * zone.h: timezones by name, from the system's tz database: the files below /usr/share/zoneinfo, or
 * below $TZDIR.  Decides which names are looked for and where; what is in a file is tzif.c's
 * affair.
 */
#ifndef TAKT_POLICY_ZONE_H
#define TAKT_POLICY_ZONE_H

#include <takt/error.h>

#include "core/zone.h"

/*
 * The zone of that name: loaded once, and the same pointer for as long as the process lives, from
 * any thread.  A tz database that is updated is read by processes that start after that.  0,
 * TAKT_E_NOMEM, or TAKT_E_POLICY with what is wrong in error.
 */
int takt_zone_load(const char *name, const takt_zone **zone, takt_error *error);

#endif
