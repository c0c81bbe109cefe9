/*
 * tzif.h: a timezone file (TZif, RFC 8536, versions 1 to 4) as bytes, to the table of
 * lib/zone/zone.h. Decides what is taken as such a file; where files lie is zone.c's affair.
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
 * Reads a whole file into a new array of changes, the caller's to free, and their number.  What is
 * said at its end is written out up to the year 2100.  0, TAKT_E_NOMEM, or TAKT_E_POLICY with what
 * is wrong in error.
 */
int takt_tzif_read(const unsigned char *bytes, size_t size, takt_zone_change **changes, int *count,
                   takt_error *error);

#endif
