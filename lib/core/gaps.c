/*
 * gaps.c: see gaps.h.
 */
#include "core/gaps.h"

#include <string.h>

#include "base/integers.h"
#include "rules/window.h"

/* Gaps that pass unused are counted as an instant, takt_gaps.unused_us, which each of them moves on
 * by so many intervals.  One that is used moves it back by half of that.  While it is more than
 * half of so many lookaheads ahead, gaps count as of no use. */
#define UNUSED_INTERVALS  100
#define UNUSED_LOOKAHEADS 64

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

/* Emission intervals of the ledger's rule and of an inner one, in the same parts.  False: the inner
 * one counts others, or they are too long to compare. */
static bool compare(const takt_ledger *ledger, const takt_numbers *inner, int64_t *interval,
                    int64_t *theirs)
{
    const takt_rule *own, *other;
    wide a, b;

    if (!takt_gaps_are_kept(ledger) || takt_gaps_rule(inner) < 0)
        return false;
    own = rule_of(ledger);
    other = &inner->rules[takt_gaps_rule(inner)];
    a = (wide)own->span_us * other->tokens;
    b = (wide)other->span_us * own->tokens;
    if (own->unit != other->unit || a > TAKT_EXACT_MAX / 2 || b > TAKT_EXACT_MAX / 2)
        return false;
    *interval = (int64_t)a;
    *theirs = (int64_t)b;
    return true;
}

bool takt_gaps_suit(const takt_ledger *ledger, const takt_numbers *inner)
{
    int64_t interval, theirs;

    return compare(ledger, inner, &interval, &theirs) && theirs % interval == 0;
}

int64_t takt_gaps_leave(const takt_ledger *ledger, const takt_numbers *inner, int64_t tokens)
{
    int64_t interval, theirs;

    if (!compare(ledger, inner, &interval, &theirs) || theirs <= interval)
        return tokens;
    return takt_mul_div(tokens, theirs, takt_ceil_div(theirs, interval) * interval);
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

static int64_t unused_most(const takt_ledger *ledger)
{
    return UNUSED_LOOKAHEADS * ledger->numbers->lookahead_us;
}

/* By how much an unused gap moves the instant on. */
static int64_t unused_step(const takt_ledger *ledger)
{
    return takt_min(UNUSED_INTERVALS * (rule_of(ledger)->interval.us + 1), unused_most(ledger));
}

static void note_unused(takt_ledger *ledger, int64_t now_us, int64_t count)
{
    int64_t most = unused_most(ledger), step = unused_step(ledger);

    if (step == 0)
        return;
    count = takt_min(count, most / step + 1);
    ledger->gaps.unused_us =
        takt_min(takt_max(ledger->gaps.unused_us, now_us) + count * step, now_us + most);
}

static void note_used(takt_ledger *ledger, int64_t now_us)
{
    if (!takt_gaps_are_used(ledger, now_us))
        return;
    ledger->gaps.unused_us -= unused_step(ledger) / 2;
    if (ledger->gaps.unused_us <= now_us)
        ledger->gaps.unused_us = 0;
}

bool takt_gaps_are_used(const takt_ledger *ledger, int64_t now_us)
{
    return ledger->gaps.unused_us <= now_us + unused_most(ledger) / 2;
}

void takt_gaps_tidy(takt_ledger *ledger, int64_t now_us)
{
    const takt_gap *last;
    const takt_rule *rule;

    if (ledger->gaps.unused_us <= now_us)
        ledger->gaps.unused_us = 0;
    else
        ledger->gaps.unused_us = takt_min(ledger->gaps.unused_us, now_us + unused_most(ledger));
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
        if (past > 0) {
            note_unused(ledger, now_us, past);
            skip(ledger, at, past);
        }
    }
}

/* The first instant at which a token moves TAT. */
static takt_fraction first_from(const takt_ledger *ledger, int64_t from_us)
{
    takt_fraction tat = tat_of(ledger), from = {from_us, 0};

    return is_before(tat, from) ? from : tat;
}

int64_t takt_gaps_whole(const takt_ledger *ledger, int64_t from_us, int64_t t_us)
{
    takt_gap run = {first_from(ledger, from_us), 1};
    int64_t before = intervals_between(rule_of(ledger), run.first, t_us - 1);

    if (before < 0 || before >= TAKT_GAP_MAX)
        return t_us;
    return takt_fraction_ceil(slot_of(rule_of(ledger), &run, before + 1));
}

void takt_gaps_pass_over(takt_ledger *ledger, int64_t from_us, int64_t t_us)
{
    takt_fraction first;
    int64_t count;

    if (!takt_gaps_are_kept(ledger) || ledger->gaps.count == TAKT_GAPS_MAX)
        return;
    first = first_from(ledger, from_us);
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

void takt_gaps_take(takt_ledger *ledger, int64_t now_us, int64_t from_us)
{
    const takt_rule *rule = rule_of(ledger);
    takt_gaps *gaps = &ledger->gaps;
    int at = 0;
    int64_t before;

    note_used(ledger, now_us);
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
