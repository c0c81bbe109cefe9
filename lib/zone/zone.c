/*
 * zone.c: computes local days from a table of changes (zone.h). zone_load.c finds the tables.
 */
#include "zone/zone.h"

#include "base/integers.h"

/* The last change at or before t_us; before the first change, the first. */
static int holds_at(const takt_zone *zone, int64_t t_us)
{
    int low = 0, high = zone->count - 1;

    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (zone->changes[middle].at_us <= t_us)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

int64_t takt_zone_offset(const takt_zone *zone, int64_t t_us)
{
    return zone->changes[holds_at(zone, t_us)].offset_us;
}

int64_t takt_zone_next_change(const takt_zone *zone, int64_t t_us)
{
    int at = t_us < zone->changes[0].at_us ? 0 : holds_at(zone, t_us) + 1;

    return at < zone->count ? zone->changes[at].at_us : INT64_MAX;
}

int64_t takt_zone_midnight(const takt_zone *zone, int64_t day)
{
    int64_t local_us = day * TAKT_DAY_US;
    int at = holds_at(zone, local_us - TAKT_ZONE_OFFSET_MAX);

    for (;; at++) {
        int64_t midnight_us = local_us - zone->changes[at].offset_us;
        if (at + 1 < zone->count && midnight_us >= zone->changes[at + 1].at_us)
            continue; /* the clocks change before midnight */
        if (at > 0 && midnight_us < zone->changes[at].at_us)
            midnight_us = zone->changes[at].at_us; /* the clocks skip midnight */
        return midnight_us;
    }
}

int64_t takt_zone_day(const takt_zone *zone, int64_t t_us)
{
    int64_t day = takt_floor_div(t_us + takt_zone_offset(zone, t_us), TAKT_DAY_US);

    while (takt_zone_midnight(zone, day + 1) <=
           t_us) /* clocks put back across midnight, days skipped */
        day++;
    return day;
}
