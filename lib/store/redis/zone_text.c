/*
 * zone_text.c: see zone_text.h.
 */
#include "store/redis/zone_text.h"

#include "zone/zone_load.h"

#define YEAR_US (INT64_C(366) * TAKT_DAY_US)

bool takt_zone_list_add(takt_zone_list *list, const char *name, size_t size)
{
    const takt_zone *zone = takt_zone_named(name, size);

    for (int i = 0; i < list->count; i++)
        if (list->zones[i] == zone)
            return true; /* an earlier call has asked for it, too */
    if (zone == NULL || list->count == TAKT_ZONE_TEXT_MORE)
        return false;
    list->zones[list->count++] = zone;
    return true;
}

/* The change in effect at an instant; before all changes, the first one. */
static int holds_at(const takt_zone *zone, int64_t t_us)
{
    int at = 0;

    while (at + 1 < zone->count && zone->changes[at + 1].at_us <= t_us)
        at++;
    return at;
}

static void write_zone(takt_writer *writer, const takt_zone *zone, int64_t about_us, bool first)
{
    int from = holds_at(zone, about_us - YEAR_US);

    if (!first)
        takt_write_char(writer, ';');
    takt_write_text(writer, zone->name);
    for (int i = from; i < zone->count && i < from + TAKT_ZONE_TEXT_CHANGES; i++) {
        const takt_zone_change *change = &zone->changes[i];
        if (i > from && change->at_us > about_us + 10 * YEAR_US)
            break;
        takt_write_char(writer, ',');
        takt_write_int(writer, change->at_us);
        takt_write_char(writer, ',');
        takt_write_int(writer, change->offset_us);
    }
}

static bool has_zone(const takt_numbers *numbers, int rules, const takt_zone *zone)
{
    for (int i = 0; i < rules; i++)
        if (numbers->rules[i].zone == zone)
            return true;
    return false;
}

void takt_zone_text_write(takt_writer *writer, const takt_numbers *numbers,
                          const takt_zone_list *list, int64_t about_us)
{
    bool first = true;

    for (int i = 0; i < numbers->rule_count; i++) {
        const takt_zone *zone = numbers->rules[i].zone;
        if (zone == NULL || has_zone(numbers, i, zone))
            continue;
        write_zone(writer, zone, about_us, first);
        first = false;
    }
    for (int i = 0; list != NULL && i < list->count; i++) {
        if (has_zone(numbers, numbers->rule_count, list->zones[i]))
            continue;
        write_zone(writer, list->zones[i], about_us, first);
        first = false;
    }
}
