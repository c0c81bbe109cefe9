/*
 * overflow.c: see overflow.h. Decides which place of the line loses waiters.
 *
 * With the strategies that drop other workers' waiters, places set aside do not count and lose
 * nothing, since their workers cannot be told. One claim drops waiters of at most as many workers
 * as an award can name; beyond that the claimer's own waiters are dropped.
 */
#include "core/overflow.h"

#include "base/integers.h"
#include "core/line.h"
#include "core/wakes.h"

/* How many waiters exceed the bound. */
static int64_t excess(const takt_ledger *ledger)
{
    bool all = ledger->numbers->when_full == TAKT_WHEN_FULL_REFUSE;
    int64_t waiting = 0;

    for (int i = 0; i < ledger->line_count; i++)
        waiting += all || !ledger->line[i].aside ? ledger->line[i].waiting : 0;
    return waiting - ledger->numbers->max_waiting;
}

/* The least urgent of the claimer's places (`own`), or of all other places that count. -1: none. */
static int last_of(const takt_ledger *ledger, uint64_t claimer, bool own)
{
    int at = ledger->line_count - 1;

    while (at >= 0 && ((ledger->line[at].worker == claimer) != own || ledger->line[at].aside))
        at--;
    return at;
}

/* The first of the others' places of that priority, which exists. */
static int first_of(const takt_ledger *ledger, uint64_t claimer, int priority)
{
    int at = 0;

    while (ledger->line[at].priority != priority || ledger->line[at].worker == claimer ||
           ledger->line[at].aside)
        at++;
    return at;
}

/* The place that loses the next waiter; -1: none. A place that was served by this claim keeps the
 * age that it had before. */
static int victim(const takt_ledger *ledger, uint64_t claimer, const takt_award *award)
{
    int mine = last_of(ledger, claimer, true), theirs = last_of(ledger, claimer, false);
    int my_priority = mine < 0 ? -1 : ledger->line[mine].priority;
    bool may_name = award->wake_count < TAKT_WAKES_MAX;

    if (theirs < 0 || !may_name || ledger->line[theirs].priority < my_priority)
        return mine;
    if (ledger->numbers->when_full == TAKT_WHEN_FULL_DROP_LOWEST)
        return mine >= 0 && ledger->line[theirs].priority > my_priority ? theirs : mine;
    theirs = first_of(ledger, claimer, ledger->line[theirs].priority);
    return ledger->line[theirs].priority > my_priority ||
                   ledger->line[theirs].turn < ledger->line[mine].came
               ? theirs
               : mine;
}

/* Of what is wanted, without that of `count` waiters that need as much as the first. */
static int64_t left_of(int64_t wanting, int64_t need, int64_t count)
{
    return count > wanting / need ? 0 : wanting - count * need;
}

/* Of the wanted tokens only the first waiter's cost is known. */
static void take_out(takt_place *place, int64_t count)
{
    place->waiting -= count;
    place->held_back = takt_min(place->held_back, place->waiting);
    place->wanting = left_of(place->wanting, place->need, count);
    for (int unit = TAKT_UNIT_MORE; unit < TAKT_UNITS; unit++)
        place->more.of[unit] =
            left_of(place->more.of[unit], takt_max(place->needs.of[unit], 1), count);
}

/* With `refuse` a full line refuses newcomers of the claiming worker, the least urgent first.
 * Waiters that were counted before keep their places. */
static void refuse_newcomers(takt_ledger *ledger, const takt_claim *claim, int64_t over,
                             takt_award *award)
{
    over = takt_min(over, claim->newcomers);
    for (int at = ledger->line_count - 1; at >= 0 && over > 0; at--) {
        takt_place *place = &ledger->line[at];
        int64_t count = takt_min(over, place->waiting - place->accepted);
        if (place->worker != claim->worker || count <= 0)
            continue;
        over -= count;
        award->refused += count;
        take_out(place, count);
        if (place->waiting == 0)
            takt_line_remove(ledger, at);
    }
}

static void drop(takt_ledger *ledger, const takt_claim *claim, int64_t over, takt_award *award)
{
    int at;

    while (over > 0 && (at = victim(ledger, claim->worker, award)) >= 0) {
        takt_place *place = &ledger->line[at];
        int64_t count = takt_min(over, place->waiting);
        over -= count;
        take_out(place, count);
        if (place->worker != claim->worker) {
            takt_wakes_add(award, place, 0);
            if (place->waiting == 0)
                takt_line_set_aside(ledger, place);
        } else {
            award->refused += count;
            if (place->waiting == 0)
                takt_line_remove(ledger, at);
        }
    }
}

void takt_overflow_apply(takt_ledger *ledger, const takt_claim *claim, takt_award *award)
{
    int64_t over = ledger->numbers->max_waiting > 0 ? excess(ledger) : 0;

    if (ledger->numbers->when_full == TAKT_WHEN_FULL_REFUSE)
        refuse_newcomers(ledger, claim, over, award);
    else
        drop(ledger, claim, over, award);
}

bool takt_overflow_moves_front(const takt_ledger *ledger)
{
    return ledger->numbers->when_full == TAKT_WHEN_FULL_DROP_OLDEST;
}
