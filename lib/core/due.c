/*
 * due.c: see due.h.
 */
#include "core/due.h"

#include "base/integers.h"
#include "core/line.h"

static int64_t due_of(const takt_place *place)
{
    return place->expires_at_us - TAKT_SILENT_US + place->due_in_us;
}

/* What is open to the place `at`, whose key is due at that instant.  Places that are due at one
 * instant belong to one key; the first ones in line take what is open. */
static takt_amounts open_to(const takt_ledger *ledger, int64_t now_us, int at)
{
    const takt_place *place = &ledger->line[at];
    int64_t due_us = due_of(place), open_us = now_us + ledger->numbers->lookahead_us - due_us;
    takt_amounts open = {{0}};

    for (int i = at - 1; i >= 0 && ledger->line[i].priority == place->priority; i--) {
        const takt_place *other = &ledger->line[i];
        if (other->due_in_us == 0 || due_of(other) != due_us)
            continue;
        for (int unit = 0; unit < TAKT_UNITS; unit++)
            open.of[unit] = other->open.of[unit] - takt_line_usable(other, unit);
        return open;
    }
    if (open_us < 0)
        return open;
    open = takt_numbers_throughput(ledger->numbers, &ledger->state, open_us);
    for (int unit = 0; unit < TAKT_UNITS; unit++)
        open.of[unit]++;
    return open;
}

void takt_due_open(takt_ledger *ledger, int64_t now_us)
{
    for (int at = 0; at < ledger->line_count; at++) {
        takt_place *place = &ledger->line[at];
        if (place->due_in_us > 0 && due_of(place) <= now_us)
            place->due_in_us = 0;
        if (place->due_in_us > 0)
            place->open = open_to(ledger, now_us, at);
    }
}
