/*
 * gaps.c: see gaps.h.
 */
#include "core/gaps.h"

#include <string.h>

#include "base/integers.h"

__extension__ typedef __int128 wide;

int takt_gaps_rule(const takt_numbers *numbers)
{
    int found = -1;

    for (int i = 0; i < numbers->rule_count; i++) {
        if (!numbers->rules[i].algorithm->paced)
            continue;
        if (found >= 0 || numbers->rules[i].unit >= TAKT_UNIT_MORE)
            return -1;
        found = i;
    }
    return found;
}

static const takt_rule *rule_of(const takt_ledger *ledger)
{
    return &ledger->numbers->rules[takt_gaps_rule(ledger->numbers)];
}

static takt_fraction tat_of(const takt_ledger *ledger)
{
    return ledger->state.rules[takt_gaps_rule(ledger->numbers)].gcra.tat;
}

static bool is_before(takt_fraction a, takt_fraction b)
{
    return a.us < b.us || (a.us == b.us && a.parts < b.parts);
}

/* The i-th slot of a run, exactly. */
static takt_fraction slot_of(const takt_rule *rule, const takt_gap *run, int64_t i)
{
    int64_t parts = run->first.parts + i * rule->interval.parts;

    return (takt_fraction){run->first.us + i * rule->interval.us + parts / rule->tokens,
                           parts % rule->tokens};
}

/* How many emission intervals fit between two instants; below 0: none. */
static int64_t intervals_between(const takt_rule *rule, takt_fraction from, int64_t until_us)
{
    wide span = (wide)(until_us - from.us) * rule->tokens - from.parts;

    if (span < 0)
        return -1;
    span /= rule->span_us;
    return span < TAKT_GAP_MAX ? (int64_t)span : TAKT_GAP_MAX;
}

/* How many slots of a run are not later than that. */
static int64_t count_until(const takt_rule *rule, const takt_gap *run, int64_t until_us)
{
    return takt_min(intervals_between(rule, run->first, until_us) + 1, run->count);
}

/* The pace of a block (brake.h) is the first rule without a burst.  If that rule has none, whatever
 * it lets through keeps the pace. */
static bool brake_adds_nothing(const takt_ledger *ledger, int rule)
{
    return ledger->brake.percent == 0 && rule == 0 && ledger->numbers->rules[0].burst == 1;
}

bool takt_gaps_are_kept(const takt_ledger *ledger)
{
    int rule = takt_gaps_rule(ledger->numbers);

    return rule >= 0 && (ledger->state.brake.tokens == 0 || brake_adds_nothing(ledger, rule));
}

bool takt_gaps_suit(const takt_ledger *ledger, const takt_numbers *inner)
{
    const takt_rule *own, *theirs;
    wide interval, whole;

    if (!takt_gaps_are_kept(ledger) || takt_gaps_rule(inner) < 0)
        return false;
    own = rule_of(ledger);
    theirs = &inner->rules[takt_gaps_rule(inner)];
    interval = (wide)own->span_us * theirs->tokens;
    whole = (wide)theirs->span_us * own->tokens;
    return own->unit == theirs->unit && interval <= TAKT_EXACT_MAX && whole <= TAKT_EXACT_MAX &&
           whole % interval == 0;
}

static void drop(takt_ledger *ledger, int at)
{
    takt_gaps *gaps = &ledger->gaps;

    gaps->count--;
    memmove(&gaps->runs[at], &gaps->runs[at + 1], (size_t)(gaps->count - at) * sizeof *gaps->runs);
}

/* Drops the first slots of a run. */
static void skip(takt_ledger *ledger, int at, int64_t count)
{
    takt_gap *run = &ledger->gaps.runs[at];

    run->first = slot_of(rule_of(ledger), run, count);
    run->count -= count;
    if (run->count <= 0)
        drop(ledger, at);
}

void takt_gaps_tidy(takt_ledger *ledger, int64_t now_us)
{
    const takt_gap *last;
    const takt_rule *rule;

    if (ledger->gaps.count == 0)
        return;
    last = &ledger->gaps.runs[ledger->gaps.count - 1];
    if (!takt_gaps_are_kept(ledger) ||
        !is_before(slot_of(rule_of(ledger), last, last->count - 1), tat_of(ledger))) {
        ledger->gaps.count = 0;
        return;
    }
    rule = rule_of(ledger);
    for (int at = ledger->gaps.count - 1; at >= 0; at--) {
        int64_t past = count_until(rule, &ledger->gaps.runs[at], now_us - 1);
        if (past > 0)
            skip(ledger, at, past);
    }
}

void takt_gaps_pass_over(takt_ledger *ledger, int64_t from_us, int64_t t_us)
{
    takt_fraction first;
    int64_t count;

    if (!takt_gaps_are_kept(ledger) || ledger->gaps.count == TAKT_GAPS_MAX)
        return;
    first = tat_of(ledger);
    if (is_before(first, (takt_fraction){from_us, 0}))
        first = (takt_fraction){from_us, 0};
    count = intervals_between(rule_of(ledger), first, t_us);
    if (count > 0)
        ledger->gaps.runs[ledger->gaps.count++] = (takt_gap){first, count};
}

int64_t takt_gaps_room(const takt_ledger *ledger, int64_t from_us, int64_t until_us)
{
    int64_t room = 0;

    for (int at = 0; at < ledger->gaps.count && until_us >= from_us; at++) {
        const takt_gap *run = &ledger->gaps.runs[at];
        room += count_until(rule_of(ledger), run, until_us) -
                count_until(rule_of(ledger), run, from_us - 1);
    }
    return room;
}

int64_t takt_gaps_due(const takt_ledger *ledger, int64_t from_us, int64_t n)
{
    for (int at = 0; at < ledger->gaps.count; at++) {
        const takt_gap *run = &ledger->gaps.runs[at];
        int64_t before = count_until(rule_of(ledger), run, from_us - 1);
        if (n <= run->count - before)
            return takt_fraction_ceil(slot_of(rule_of(ledger), run, before + n - 1));
        n -= run->count - before;
    }
    return TAKT_NEVER;
}

void takt_gaps_take(takt_ledger *ledger, int64_t from_us)
{
    const takt_rule *rule = rule_of(ledger);
    takt_gaps *gaps = &ledger->gaps;
    int at = 0;
    int64_t before;

    while (count_until(rule, &gaps->runs[at], from_us - 1) == gaps->runs[at].count)
        at++;
    before = count_until(rule, &gaps->runs[at], from_us - 1);
    /* without space for a second run, the gaps before the slot are lost */
    if (before > 0 && before + 1 < gaps->runs[at].count && gaps->count < TAKT_GAPS_MAX) {
        memmove(&gaps->runs[at + 1], &gaps->runs[at],
                (size_t)(gaps->count - at) * sizeof *gaps->runs);
        gaps->count++;
        gaps->runs[at].count = before;
        skip(ledger, at + 1, before + 1);
    } else if (before > 0 && before + 1 == gaps->runs[at].count) {
        gaps->runs[at].count = before;
    } else {
        skip(ledger, at, before + 1);
    }
}
