/*
 * line.c: see line.h.
 */
#include "core/line.h"

#include <string.h>

#include "base/integers.h"
#include "core/worth.h"

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

static bool has(const takt_ledger *ledger, int priority, int64_t turn)
{
    for (int at = end_of(ledger, priority) - 1;
         at >= 0 && ledger->line[at].priority == priority && ledger->line[at].turn >= turn; at--)
        if (ledger->line[at].turn == turn)
            return true;
    return false;
}

/* The first number from `turn` on that no place has. */
static int64_t free_turn(const takt_ledger *ledger, int priority, int64_t turn)
{
    while (has(ledger, priority, turn))
        turn++;
    return turn;
}

bool takt_line_owes(const takt_ledger *ledger, int priority)
{
    int end = end_of(ledger, priority);

    return end > 0 && ledger->line[end - 1].priority == priority &&
           ledger->line[end - 1].turn > ledger->turn;
}

/* How many active places its priority has. */
static int64_t count_active(const takt_ledger *ledger, int priority)
{
    int64_t count = 0;

    for (int at = end_of(ledger, priority) - 1; at >= 0 && ledger->line[at].priority == priority;
         at--)
        count += !ledger->line[at].aside;
    return count;
}

/* Makes space for a place. Returns its index. */
static int open_at(takt_ledger *ledger, int priority, int64_t turn)
{
    int at = end_of(ledger, priority);

    while (at > 0 && ledger->line[at - 1].priority == priority && ledger->line[at - 1].turn > turn)
        at--;
    memmove(&ledger->line[at + 1], &ledger->line[at],
            (size_t)(ledger->line_count - at) * sizeof *ledger->line);
    ledger->line_count++;
    return at;
}

int takt_line_add(takt_ledger *ledger, uint64_t worker, int priority)
{
    int64_t step = 1;
    int at;

    if (takt_line_owes(ledger, priority)) /* as after a share */
        step = takt_max(TAKT_WORTH_STEP / (count_active(ledger, priority) + 1), 1);
    ledger->turn = free_turn(ledger, priority, ledger->turn + step);
    at = open_at(ledger, priority, ledger->turn);
    ledger->line[at] =
        (takt_place){.worker = worker, .priority = (int8_t)priority, .turn = ledger->turn};
    return at;
}

void takt_line_remove(takt_ledger *ledger, int at)
{
    ledger->line_count--;
    memmove(&ledger->line[at], &ledger->line[at + 1],
            (size_t)(ledger->line_count - at) * sizeof *ledger->line);
}

int takt_line_restate(takt_ledger *ledger, int64_t now_us, const takt_place *told)
{
    int at = takt_line_find(ledger, told->worker, told->priority);
    takt_place *place;

    if (told->wanting == 0) {
        if (at >= 0)
            takt_line_remove(ledger, at);
        return -1;
    }
    if (at < 0)
        at = takt_line_add(ledger, told->worker, told->priority);
    place = &ledger->line[at];
    place->weight = told->weight;
    if (place->left >= told->weight)
        place->left = 0;
    place->seq = told->seq;
    place->came = place->turn;
    place->accepted = place->waiting;
    place->wanting = ledger->stated[told->priority].tokens = told->wanting;
    place->waiting = told->waiting;
    place->need = told->need;
    place->more = ledger->stated[told->priority].more = told->more;
    place->needs = told->needs;
    place->held_back = place->due_in_us = 0;
    place->again_at_us = now_us;
    place->expires_at_us = now_us + TAKT_SILENT_US;
    place->aside = place->lacking = false;
    return at;
}

void takt_line_set_aside(takt_ledger *ledger, takt_place *place)
{
    place->aside = true;
    ledger->turn = takt_max(ledger->turn, place->turn); /* no other place is given its number */
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

/* Whether no active place of its priority is before this one. */
static bool is_head(const takt_ledger *ledger, int at)
{
    int priority = ledger->line[at].priority;

    while (at > 0 && ledger->line[at - 1].priority == priority)
        if (!ledger->line[--at].aside)
            return false;
    return true;
}

/* The number of a new turn at the end of a line with weights: those who owe turns are then before
 * it. */
static int64_t weighed_turn(takt_ledger *ledger, takt_place *place)
{
    int end = end_of(ledger, place->priority), to = first_passed(ledger, place);
    int64_t turn = to < end ? turn_between(ledger, to, place->turn) : 0;

    place->former = place->turn;
    if (turn > 0)
        return turn;
    if (end > 0 && ledger->line[end - 1].priority == place->priority)
        ledger->turn = takt_max(ledger->turn, ledger->line[end - 1].turn);
    return ledger->turn += TAKT_TURN_STEP;
}

/* The number of a place whose turn is over, where not all turns are worth the same. */
static void move_on(takt_ledger *ledger, takt_place *place, int64_t moves, int64_t usual)
{
    bool early = place->turn > ledger->turn; /* it was served before its number was reached */
    bool far = moves > usual;
    int64_t turn = ledger->turn + 1;

    if (early || far || takt_line_owes(ledger, place->priority))
        turn = takt_max(turn, place->turn + moves);
    turn = takt_min(turn, ledger->turn + TAKT_OWED_MAX);
    place->turn = free_turn(ledger, place->priority, turn);
    if (!early && !far)
        ledger->turn = place->turn;
}

void takt_line_end_turn(takt_ledger *ledger, int at, int64_t moves, int64_t usual)
{
    takt_place place = ledger->line[at];

    if (is_head(ledger, at)) /* the number of one that owed turns is reached */
        ledger->turn = takt_max(ledger->turn, place.turn);
    takt_line_remove(ledger, at);
    place.former = 0;
    if (takt_line_is_weighed(ledger, &place))
        place.turn = weighed_turn(ledger, &place);
    else
        move_on(ledger, &place, moves, usual);
    at = open_at(ledger, place.priority, place.turn);
    ledger->line[at] = place;
}

int64_t takt_line_wanted(const takt_place *place, int unit)
{
    return unit == TAKT_UNIT_TOKENS     ? place->wanting
           : unit == TAKT_UNIT_REQUESTS ? place->waiting - place->held_back
                                        : place->more.of[unit];
}

int64_t takt_line_usable(const takt_place *place, int unit)
{
    int64_t wanted = takt_line_wanted(place, unit);

    return place->due_in_us > 0 ? takt_min(wanted, place->open.of[unit]) : wanted;
}

int64_t takt_line_need(const takt_place *place, int unit)
{
    return unit == TAKT_UNIT_TOKENS     ? place->need
           : unit == TAKT_UNIT_REQUESTS ? 1
                                        : takt_max(place->needs.of[unit], 1);
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
        int64_t silent_at_us = now_us + TAKT_SILENT_US;
        if (place.tenant > 0) { /* it may be parked */
            place.again_at_us = takt_min(place.again_at_us, now_us + TAKT_PARKED_MAX_US);
            silent_at_us = takt_max(silent_at_us, place.again_at_us + TAKT_SILENT_US);
        }
        place.expires_at_us = takt_min(place.expires_at_us, silent_at_us);
        if (place.expires_at_us < now_us)
            continue;
        if (kept == 0 || ledger->line[kept - 1].priority != place.priority)
            head = true;
        if (head && place.tenant == 0 && !place.aside &&
            place.again_at_us + ledger->numbers->lookahead_us < now_us)
            takt_line_set_aside(ledger, &place);
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
