/*
 * Timezone files of any bytes: refused, or a table that lib/zone/zone.c can rely on; windows of a
 * rule in such a zone go forward.
 */
#include "fuzz.h"

#include "rules/window.h"
#include "zone/tzif.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_table(const takt_zone *zone)
{
    check(zone->count >= 1 && zone->count <= TAKT_TZIF_CHANGES_MAX && zone->changes[0].at_us == 0);
    for (int i = 0; i < zone->count; i++) {
        check(zone->changes[i].offset_us > -TAKT_ZONE_OFFSET_MAX &&
              zone->changes[i].offset_us < TAKT_ZONE_OFFSET_MAX);
        check(i == 0 || zone->changes[i].at_us > zone->changes[i - 1].at_us);
    }
}

static void check_windows(const takt_zone *zone, int64_t span_us)
{
    takt_rule rule = {.tokens = 1, .span_us = span_us, .zone = zone};

    for (int i = 0; i < zone->count && i < 50; i++) {
        int64_t t_us = zone->changes[i].at_us + 1000;
        int64_t start_us = takt_window_start(&rule, t_us),
                next_us = takt_window_after(&rule, t_us, 1);
        check(start_us <= t_us && next_us > t_us);
        check(takt_window_start(&rule, start_us) == start_us);
        check(takt_window_start(&rule, next_us) == next_us);
        check(takt_window_start(&rule, next_us - 1) == start_us);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    takt_zone zone = {.name = "Fuzz"};
    takt_zone_change *changes;

    if (takt_tzif_read(bytes, size, &changes, &zone.count, NULL) != 0)
        return 0;
    zone.changes = changes;
    check_table(&zone);
    check_windows(&zone, TAKT_DAY_US);
    check_windows(&zone, TAKT_DAY_US / 4);
    check_windows(&zone, 7 * TAKT_DAY_US);
    free(changes);
    return 0;
}
