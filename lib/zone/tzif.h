/*
 * tzif.h: converts the bytes of a timezone file (TZif, RFC 8536, versions 1 to 4) to the table of
 * lib/zone/zone.h. This file decides which bytes are a valid file; zone_load.c finds the files.
 */
#ifndef TAKT_ZONE_TZIF_H
#define TAKT_ZONE_TZIF_H

#include <takt/error.h>

#include "zone/zone.h"

#define TAKT_TZIF_SIZE_MAX 65536
#define TAKT_TZIF_CHANGES_MAX                                                                      \
    2048 /* from 1970 on, those of the last line up to 2100 among them                             \
          */

/*
 * Reads a whole file into a new array of `count` changes, which the caller frees. The changes that
 * the last line defines are included up to the year 2100. Returns 0, TAKT_E_NOMEM, or TAKT_E_POLICY
 * with the reason in error.
 */
int takt_tzif_read(const unsigned char *bytes, size_t size, takt_zone_change **changes, int *count,
                   takt_error *error);

#endif
