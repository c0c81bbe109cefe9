/*
 * line.c: see line.h.
 */
#include "core/line.h"

#include <string.h>

int takt_line_find(const takt_ledger *ledger, uint64_t worker, int priority)
{
    for (int at = 0; at < ledger->line_count; at++)
        if (ledger->line[at].worker == worker && ledger->line[at].priority == priority)
            return at;
    return -1;
}

/* The end of a priority's part of the line. */
static int end_of(const takt_ledger *ledger, int priority)
{
    int at = 0;

    while (at < ledger->line_count && ledger->line[at].priority <= priority)
        at++;
    return at;
}

int takt_line_add(takt_ledger *ledger, takt_place place)
{
    int at = end_of(ledger, place.priority);

    place.turn = ++ledger->turn;
    memmove(&ledger->line[at + 1], &ledger->line[at],
            (size_t)(ledger->line_count - at) * sizeof *ledger->line);
    ledger->line[at] = place;
    ledger->line_count++;
    return at;
}

void takt_line_remove(takt_ledger *ledger, int at)
{
    ledger->line_count--;
    memmove(&ledger->line[at], &ledger->line[at + 1],
            (size_t)(ledger->line_count - at) * sizeof *ledger->line);
}

void takt_line_tidy(takt_ledger *ledger, int64_t now_us)
{
    int kept = 0;
    bool head = true; /* no other place of this priority precedes this one */

    for (int at = 0; at < ledger->line_count; at++) {
        takt_place place = ledger->line[at];
        if (place.expires_at_us > now_us + TAKT_SILENT_US)
            place.expires_at_us = now_us + TAKT_SILENT_US;
        if (place.expires_at_us < now_us)
            continue;
        if (kept == 0 || ledger->line[kept - 1].priority != place.priority)
            head = true;
        if (head && !place.aside && place.again_at_us + ledger->numbers->lookahead_us < now_us)
            place.aside = true;
        if (!place.aside)
            head = false;
        ledger->line[kept++] = place;
    }
    ledger->line_count = kept;
}

bool takt_line_is_stale(const takt_ledger *ledger, const takt_claim *claim)
{
    for (int i = 0; i < ledger->line_count; i++)
        if (ledger->line[i].worker == claim->worker && ledger->line[i].seq >= claim->seq)
            return true;
    return false;
}

void takt_line_count(const takt_ledger *ledger, int64_t *waiting, int64_t *workers)
{
    *waiting = 0;
    *workers = 0;
    for (int i = 0; i < ledger->line_count; i++) {
        *waiting += ledger->line[i].waiting;
        *workers += ledger->line[i].foremost;
    }
}
