/*
 * line.c: see line.h.
 */
#include "core/line.h"

#include <string.h>

#include "base/integers.h"

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

static void insert(takt_ledger *ledger, int at, takt_place place)
{
    memmove(&ledger->line[at + 1], &ledger->line[at],
            (size_t)(ledger->line_count - at) * sizeof *ledger->line);
    ledger->line[at] = place;
    ledger->line_count++;
}

int takt_line_add(takt_ledger *ledger, takt_place place)
{
    int at = end_of(ledger, place.priority);

    place.turn = ++ledger->turn;
    insert(ledger, at, place);
    return at;
}

void takt_line_remove(takt_ledger *ledger, int at)
{
    ledger->line_count--;
    memmove(&ledger->line[at], &ledger->line[at + 1],
            (size_t)(ledger->line_count - at) * sizeof *ledger->line);
}

bool takt_line_is_weighed(const takt_ledger *ledger, const takt_place *place)
{
    int64_t more = place->weight - 1;
    int others = 0;

    if (place->tenant > 0) /* tenants have tags for that */
        return false;
    for (int at = end_of(ledger, place->priority) - 1;
         at >= 0 && ledger->line[at].priority == place->priority; at--)
        if (!ledger->line[at].aside && ledger->line[at].worker != place->worker) {
            more += ledger->line[at].weight - 1;
            others++;
        }
    return others > 0 && more > 0;
}

/* The first of those at the end that have taken their turns earlier than this place; the end if
 * there is none, or if one is aside, whose turn may be any. */
static int first_passed(const takt_ledger *ledger, const takt_place *place)
{
    int end = end_of(ledger, place->priority), first = end, at = end - 1;

    for (; at >= 0 && ledger->line[at].priority == place->priority; at--) {
        if (ledger->line[at].aside)
            return end;
        if (first == at + 1 && ledger->line[at].former > place->turn)
            first = at;
    }
    return first;
}

/* A turn between two; 0: there is none. */
static int64_t turn_between(const takt_ledger *ledger, int at, int64_t after)
{
    const takt_place *next = &ledger->line[at];
    int64_t turn;

    if (at > 0 && next[-1].priority == next->priority)
        after = takt_max(after, next[-1].turn);
    after = takt_max(after, next->turn - TAKT_TURN_STEP);
    turn = after + takt_max((next->turn - after) / 8, 1); /* more may come before the next */
    return turn < next->turn ? turn : 0;
}

void takt_line_end_turn(takt_ledger *ledger, int at)
{
    takt_place place = ledger->line[at];
    int64_t turn = 0;
    int to, end;

    takt_line_remove(ledger, at);
    to = end = end_of(ledger, place.priority);
    place.former = 0;
    if (takt_line_is_weighed(ledger, &place)) {
        place.former = place.turn;
        to = first_passed(ledger, &place);
        turn = to < end ? turn_between(ledger, to, place.turn) : 0;
        ledger->turn += turn > 0 ? 0 : TAKT_TURN_STEP - 1;
    }
    place.turn = turn > 0 ? turn : ++ledger->turn;
    insert(ledger, turn > 0 ? to : end, place);
}

int64_t takt_line_shares(const takt_place *place)
{
    int64_t shares = place->left > 0 ? place->left : place->weight;

    return takt_max(takt_min(shares, place->waiting), 1);
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
        if (head && place.tenant == 0 && !place.aside &&
            place.again_at_us + ledger->numbers->lookahead_us < now_us)
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
