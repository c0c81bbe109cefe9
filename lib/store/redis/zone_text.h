/*
 * zone_text.h: timezones as the scripts get them: the changes of the clocks for the years that
 * matter. A script has no tz database.
 */
#ifndef TAKT_STORE_REDIS_ZONE_TEXT_H
#define TAKT_STORE_REDIS_ZONE_TEXT_H

#include "core/numbers.h"

#define TAKT_ZONE_TEXT_CHANGES 64 /* changes of one zone, at most */
#define TAKT_ZONE_TEXT_SIZE    (TAKT_ZONE_NAME_MAX + 2 + TAKT_ZONE_TEXT_CHANGES * 42)
#define TAKT_ZONE_TEXT_MORE    4 /* zones in addition to those of a limit's rules */

/* Zones that a ledger's text has named and the caller's limits do not. Zeros at first. */
typedef struct takt_zone_list {
    const takt_zone *zones[TAKT_ZONE_TEXT_MORE];
    int count;
} takt_zone_list;

/* Adds the zone of that name, if it is new. False: this host does not know the zone, or there are
 * too many. */
bool takt_zone_list_add(takt_zone_list *list, const char *name, size_t size);

/*
 * Writes "NAME,AT,OFFSET,AT,OFFSET;NAME..." for the zones of the limit's rules and of the list (may
 * be NULL), each once, with the changes in effect from a year before about_us to ten years after
 * it; nothing without zones.
 */
void takt_zone_text_write(takt_writer *writer, const takt_numbers *numbers,
                          const takt_zone_list *list, int64_t about_us);

#endif
