/*
 * overflow.c: see overflow.h. Decides which place of the line loses waiters.
 *
 * With the strategies that drop other workers' waiters, late places do not count and lose nothing,
 * since their workers cannot be told. One claim drops waiters of at most as many workers as an
 * award can name; beyond that the claimer's own waiters are dropped.
 */
#include "core/overflow.h"

#include "base/integers.h"
#include "core/inner_line.h"
#include "core/line.h"
#include "core/tenant_turns.h"
#include "core/tenants.h"
#include "core/wakes.h"

static takt_ledger *ledger_of(takt_ledger *ledger, int ledger_no)
{
    return ledger_no > 0 ? ledger->inner[ledger_no - 1] : ledger;
}

/* Whether the place's worker can be told that it loses waiters. In the line of an inner ledger a
 * place that is aside may be parked, and is not late then. */
static bool can_be_told(const takt_ledger *ledger, const takt_place *place, int64_t now_us)
{
    return !place->aside || (place->tenant > 0 && place->waiting > 0 &&
                             place->again_at_us + ledger->numbers->lookahead_us >= now_us);
}

/* How many waiters exceed the bound. */
static int64_t excess(const takt_ledger *ledger, int64_t now_us)
{
    bool all = ledger->numbers->when_full == TAKT_WHEN_FULL_REFUSE;
    int64_t waiting = 0;

    if (ledger->numbers->max_waiting == 0)
        return 0;
    for (int i = 0; i < ledger->line_count; i++)
        waiting +=
            all || can_be_told(ledger, &ledger->line[i], now_us) ? ledger->line[i].waiting : 0;
    return waiting - ledger->numbers->max_waiting;
}

/* The least urgent of the claimer's places (`own`), or of all other places that count. -1: none. */
static int last_of(const takt_ledger *ledger, int64_t now_us, uint64_t claimer, bool own)
{
    int at = ledger->line_count - 1;

    while (at >= 0 && ((ledger->line[at].worker == claimer) != own ||
                       !can_be_told(ledger, &ledger->line[at], now_us)))
        at--;
    return at;
}

/* The first of the others' places of that priority, which exists. */
static int first_of(const takt_ledger *ledger, int64_t now_us, uint64_t claimer, int priority)
{
    int at = 0;

    while (ledger->line[at].priority != priority || ledger->line[at].worker == claimer ||
           !can_be_told(ledger, &ledger->line[at], now_us))
        at++;
    return at;
}

/* The place that loses the next waiter; -1: none. A place that was served by this claim keeps the
 * age that it had before. */
static int victim(const takt_ledger *ledger, uint64_t claimer, const takt_award *award)
{
    int mine = last_of(ledger, award->now_us, claimer, true);
    int theirs = last_of(ledger, award->now_us, claimer, false);
    int my_priority = mine < 0 ? -1 : ledger->line[mine].priority;
    bool may_name = award->wake_count < TAKT_WAKES_MAX;

    if (theirs < 0 || !may_name || ledger->line[theirs].priority < my_priority)
        return mine;
    if (ledger->numbers->when_full == TAKT_WHEN_FULL_DROP_LOWEST)
        return mine >= 0 && ledger->line[theirs].priority > my_priority ? theirs : mine;
    theirs = first_of(ledger, award->now_us, claimer, ledger->line[theirs].priority);
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

/* Waiters of a place leave the line. A place of another worker keeps its turn without waiters. */
static void leave_line(takt_ledger *ledger, int at, int64_t count, const takt_claim *claim)
{
    takt_place *place = &ledger->line[at];

    take_out(place, takt_min(count, place->waiting));
    if (place->waiting > 0)
        return;
    if (place->worker == claim->worker)
        takt_line_remove(ledger, at);
    else
        takt_line_set_aside(ledger, place);
}

/* Whether that level counts dropped waiters of another worker until this worker's next claim.  If
 * newcomers took their places now, and the worker could keep them then, there would be too many. */
static bool counts_dropped(const takt_ledger *ledger)
{
    return ledger->numbers->max_waiting > 0 && !takt_numbers_drops(ledger->numbers);
}

/* Waiters of a place of one level leave all levels. */
static void leave(takt_ledger *ledger, int ledger_no, int at, int64_t count,
                  const takt_claim *claim)
{
    takt_place place = ledger_of(ledger, ledger_no)->line[at];

    leave_line(ledger_of(ledger, ledger_no), at, count, claim);
    for (int other = 0; other <= ledger->inner_count; other++) {
        if (other == ledger_no ||
            (place.worker != claim->worker && counts_dropped(ledger_of(ledger, other))))
            continue;
        at = other > 0 ? takt_inner_index(ledger_of(ledger, other), &place)
                       : takt_line_find(ledger, place.worker, place.priority);
        if (at >= 0)
            leave_line(ledger_of(ledger, other), at, count, claim);
    }
}

/* With `refuse` a full line refuses newcomers of the claiming worker, the least urgent first.
 * Waiters that were counted before keep their places. */
static void refuse_newcomers(takt_ledger *ledger, int ledger_no, const takt_claim *claim,
                             int64_t over, takt_award *award)
{
    const takt_ledger *full = ledger_of(ledger, ledger_no);

    over = takt_min(over, claim->newcomers - award->refused);
    for (int at = full->line_count - 1; at >= 0 && over > 0; at--) {
        const takt_place *place = &full->line[at];
        int64_t count = takt_min(over, place->waiting - place->accepted);
        if (place->worker != claim->worker || count <= 0)
            continue;
        over -= count;
        award->refused += count;
        leave(ledger, ledger_no, at, count, claim);
    }
}

/* A place in an inner line has lost all its waiters: the first one comes sooner than planned. The
 * outermost line has ledger_claim.c for that. */
static void wake_first(takt_ledger *inner, int ledger_no, const takt_claim *claim,
                       takt_award *award)
{
    int first = takt_tenants_first(inner);

    if (first < inner->line_count && inner->line[first].worker != claim->worker)
        takt_wakes_add(award, &inner->line[first], ledger_no);
}

/* Returns whether other workers have lost waiters. */
static bool drop(takt_ledger *ledger, int ledger_no, const takt_claim *claim, int64_t over,
                 takt_award *award)
{
    takt_ledger *full = ledger_of(ledger, ledger_no);
    bool others = false, emptied = false;
    int at;

    while (over > 0 && (at = victim(full, claim->worker, award)) >= 0) {
        const takt_place *place = &full->line[at];
        int64_t count = takt_min(over, place->waiting);
        over -= count;
        if (place->worker != claim->worker) {
            others = true;
            emptied |= count == place->waiting;
            takt_wakes_add(award, place, ledger_no);
        } else {
            award->refused += count;
        }
        leave(ledger, ledger_no, at, count, claim);
    }
    if (emptied && ledger_no > 0 && full->numbers->when_full == TAKT_WHEN_FULL_DROP_OLDEST)
        wake_first(full, ledger_no, claim, award);
    return others;
}

/* The claim's waiters in a line; -1: it has no place there. */
static int64_t waiters_in(const takt_ledger *ledger, uint64_t worker)
{
    int64_t waiting = 0;
    bool stands = false;

    for (int i = 0; i < ledger->line_count; i++)
        if (ledger->line[i].worker == worker) {
            stands = true;
            waiting += ledger->line[i].waiting;
        }
    return stands ? waiting : -1;
}

/* Applies the bound of one level. Returns what takt_overflow_apply does. */
static bool apply(takt_ledger *ledger, int ledger_no, const takt_claim *claim, takt_award *award)
{
    takt_ledger *full = ledger_of(ledger, ledger_no);
    takt_when_full way = full->numbers->when_full;
    int64_t over = excess(full, award->now_us), refused = award->refused;
    bool others = false;

    /* Too many tenants: the claim's places in the innermost line stand for those here. */
    if (way == TAKT_WHEN_FULL_REFUSE && ledger_no > 1 && award->unlisted &&
        waiters_in(full, claim->worker) < 0) {
        over += takt_max(waiters_in(ledger->inner[0], claim->worker), 0);
        ledger_no = 1;
    }
    if (way == TAKT_WHEN_FULL_REFUSE)
        refuse_newcomers(ledger, ledger_no, claim, over, award);
    else
        others = drop(ledger, ledger_no, claim, over, award);
    if (ledger->inner_count > 0 && award->refused > refused)
        award->leaves[award->leave_count++] = (takt_leave){way, award->refused - refused};
    return way == TAKT_WHEN_FULL_DROP_OLDEST && (others || ledger_no == 0);
}

/* Whether nested work stands in the line of an inner ledger. */
static bool is_bounded(const takt_ledger *inner)
{
    return inner->numbers->max_waiting > 0 && inner->tenant_count > 0;
}

/* Applies the bounds of the levels that drop, or of those that refuse, the innermost first. */
static bool apply_all(takt_ledger *ledger, bool dropping, const takt_claim *claim,
                      takt_award *award)
{
    bool moved = false;

    for (int i = 0; i < ledger->inner_count; i++)
        if (is_bounded(ledger->inner[i]) &&
            takt_numbers_drops(ledger->inner[i]->numbers) == dropping)
            moved |= apply(ledger, i + 1, claim, award);
    if (takt_numbers_drops(ledger->numbers) == dropping)
        moved |= apply(ledger, 0, claim, award);
    return moved;
}

bool takt_overflow_apply(takt_ledger *ledger, const takt_claim *claim, takt_award *award)
{
    bool bounded = false, moved;

    for (int ledger_no = 0; ledger_no <= ledger->inner_count; ledger_no++)
        bounded = bounded || ledger_of(ledger, ledger_no)->numbers->max_waiting > 0;
    apply_all(ledger, false, claim, award);
    moved = apply_all(ledger, true, claim, award);
    for (int i = 0; bounded && i < ledger->inner_count; i++)
        if (ledger->inner[i]->tenant_count > 0)
            takt_tenants_trim(ledger->inner[i]);
    return moved;
}

bool takt_overflow_is_near(const takt_ledger *ledger)
{
    for (int i = 0; i < ledger->inner_count; i++) {
        int64_t waiting, workers;
        if (!is_bounded(ledger->inner[i]))
            continue;
        takt_line_count(ledger->inner[i], &waiting, &workers);
        if (waiting > ledger->inner[i]->numbers->max_waiting / 2)
            return true;
    }
    return false;
}
