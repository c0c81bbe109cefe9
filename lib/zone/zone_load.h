/*
 * zone_load.h: timezones by name, from the system's tz database: the files below
 * /usr/share/zoneinfo, or below $TZDIR. This file decides which names are valid and where their
 * files are. tzif.h decodes the files.
 */
#ifndef TAKT_ZONE_ZONE_LOAD_H
#define TAKT_ZONE_ZONE_LOAD_H

#include <takt/error.h>

#include "zone/zone.h"

/*
 * Finds the zone of a name. A zone is loaded once; the pointer is valid until the process ends. Any
 * thread may call it. After an update of the tz database, only new processes see the update.
 * Returns 0, TAKT_E_NOMEM, TAKT_E_SYSTEM if the file cannot be read, or TAKT_E_POLICY; error has
 * the reason.
 */
int takt_zone_load(const char *name, const takt_zone **zone, takt_error *error);

/* The same for a name of `size` bytes, from a ledger's text. NULL: this host has no such zone. */
const takt_zone *takt_zone_named(const char *name, size_t size);

#endif
