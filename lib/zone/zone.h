/*
 * zone.h: local time in a timezone, from a table of the instants at which the offset from UTC
 * changes. This file decides the local day of an instant and the start of a local day. zone_load.c
 * finds the tables.
 *
 * A local day begins at the first instant at which the clocks show its midnight or later. So days
 * never go back when clocks do, and a day with a change of the clocks has 23 or 25 hours.
 */
#ifndef TAKT_ZONE_ZONE_H
#define TAKT_ZONE_ZONE_H

#include <stddef.h>
#include <stdint.h>

#define TAKT_ZONE_NAME_MAX   63
#define TAKT_DAY_US          INT64_C(86400000000)
#define TAKT_ZONE_OFFSET_MAX (26 * INT64_C(3600000000)) /* bound of all offsets */

/* From at_us on, local time is UTC + offset_us. */
typedef struct takt_zone_change {
    int64_t at_us;
    int64_t offset_us;
} takt_zone_change;

typedef struct takt_zone {
    char name[TAKT_ZONE_NAME_MAX + 1]; /* "America/Los_Angeles" */
    int count;                         /* at least 1 */
    const takt_zone_change *changes;   /* ascending; the first also applies before its instant */
} takt_zone;

/* The offset of local time from UTC at t_us. */
int64_t takt_zone_offset(const takt_zone *zone, int64_t t_us);

/* The first change after t_us; INT64_MAX: there is none. */
int64_t takt_zone_next_change(const takt_zone *zone, int64_t t_us);

/* The local day at t_us, counted from 1970-01-01; and the start of a local day. */
int64_t takt_zone_day(const takt_zone *zone, int64_t t_us);
int64_t takt_zone_midnight(const takt_zone *zone, int64_t day);

#endif
