/*
 * gaps.c: see gaps.h.
 */
#include "core/gaps.h"

#include <string.h>

#include "base/integers.h"
#include "rules/window.h"

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
    takt_wide span = (takt_wide)(until_us - from.us) * rule->tokens - from.parts;

    if (span < 0)
        return -1;
    span /= rule->span_us;
    return span < TAKT_GAP_MAX ? (int64_t)span : TAKT_GAP_MAX;
}

takt_gap takt_gaps_run(const takt_rule *rule, takt_fraction first, int64_t until_us)
{
    return (takt_gap){first, until_us,
                      rule->interval.us > 0 ? intervals_between(rule, first, until_us) : 0};
}

/* How many slots of a run are not later than that. */
static int64_t count_until(const takt_rule *rule, const takt_gap *run, int64_t until_us)
{
    if (until_us < run->first.us)
        return 0;
    if (until_us >= run->until_us)
        return run->count;
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
    takt_wide a, b;

    if (!takt_gaps_are_kept(ledger) || takt_gaps_rule(inner) < 0)
        return false;
    own = rule_of(ledger);
    other = &inner->rules[takt_gaps_rule(inner)];
    a = (takt_wide)own->span_us * other->tokens;
    b = (takt_wide)other->span_us * own->tokens;
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

/* How far ahead that instant is when too many have passed unused. */
static int64_t unused_enough(const takt_ledger *ledger)
{
    return TAKT_GAPS_UNUSED_LOOKAHEADS * ledger->numbers->lookahead_us;
}

/* By how much an unused gap moves the instant on. */
static int64_t unused_step(const takt_ledger *ledger)
{
    return takt_min(TAKT_GAPS_UNUSED_INTERVALS * (rule_of(ledger)->interval.us + 1),
                    2 * unused_enough(ledger));
}

static void note_unused(takt_ledger *ledger, int64_t now_us, int64_t count)
{
    int64_t enough = unused_enough(ledger), step = unused_step(ledger);
    int64_t *unused_us = &ledger->gaps.unused_us;

    if (step == 0 || !takt_gaps_are_used(ledger, now_us))
        return;
    *unused_us = takt_max(*unused_us, now_us) + takt_min(count, enough / step + 1) * step;
    if (*unused_us > now_us + enough)
        *unused_us = now_us + 3 * enough;
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
    return ledger->gaps.unused_us <= now_us + 2 * unused_enough(ledger);
}

/* The instant that counts unused gaps when nothing but time has passed. */
static int64_t unused_now(const takt_ledger *ledger, int64_t now_us)
{
    int64_t enough = unused_enough(ledger), unused_us = ledger->gaps.unused_us;
    bool anew = unused_us > now_us + enough && takt_gaps_are_used(ledger, now_us);

    return unused_us <= now_us || anew ? 0 : takt_min(unused_us, now_us + 3 * enough);
}

void takt_gaps_tidy(takt_ledger *ledger, int64_t now_us)
{
    const takt_gap *last;
    const takt_rule *rule;

    ledger->gaps.unused_us = unused_now(ledger, now_us);
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
    takt_gap run = {.first = first_from(ledger, from_us)};
    int64_t before = intervals_between(rule_of(ledger), run.first, t_us - 1);

    if (before < 0 || before >= TAKT_GAP_MAX)
        return t_us;
    return takt_fraction_ceil(slot_of(rule_of(ledger), &run, before + 1));
}

/* Keeps a run if a slot fits into it, and if there is space. */
static void insert(takt_gaps *gaps, int at, takt_gap run)
{
    if (run.count <= 0 || gaps->count == TAKT_GAPS_MAX)
        return;
    memmove(&gaps->runs[at + 1], &gaps->runs[at], (size_t)(gaps->count - at) * sizeof *gaps->runs);
    gaps->runs[at] = run;
    gaps->count++;
}

void takt_gaps_pass_over(takt_ledger *ledger, int64_t from_us, int64_t t_us)
{
    if (takt_gaps_are_kept(ledger))
        insert(&ledger->gaps, ledger->gaps.count,
               takt_gaps_run(rule_of(ledger), first_from(ledger, from_us), t_us));
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

/* Whether a slot at that instant fits into a run, wherever the run's own ones are. */
static bool fits(const takt_rule *rule, const takt_gap *run, int64_t t_us)
{
    takt_fraction t = {t_us, 0};

    return !is_before(t, run->first) && intervals_between(rule, t, run->until_us) > 0;
}

int64_t takt_gaps_next(const takt_ledger *ledger, int64_t now_us, int64_t t_us)
{
    bool whole = takt_gaps_are_used(ledger, now_us);

    for (int at = 0; at < ledger->gaps.count; at++) {
        const takt_gap *run = &ledger->gaps.runs[at];
        const takt_rule *rule = rule_of(ledger);
        int64_t before = count_until(rule, run, t_us - 1);
        if (!whole && fits(rule, run, t_us))
            return t_us;
        if (before < run->count)
            return takt_fraction_ceil(slot_of(rule, run, before));
    }
    return TAKT_NEVER;
}

void takt_gaps_take(takt_ledger *ledger, int64_t now_us, int64_t t_us)
{
    const takt_rule *rule = rule_of(ledger);
    takt_gap run, used = {.first = {t_us, 0}};
    takt_fraction own;
    int at = 0;

    note_used(ledger, now_us);
    while (ledger->gaps.runs[at].until_us <= t_us)
        at++;
    run = ledger->gaps.runs[at];
    own = slot_of(rule, &run, takt_max(count_until(rule, &run, t_us) - 1, 0));
    if (takt_fraction_ceil(own) == t_us)
        used.first = own;
    drop(ledger, at);
    /* without space for two, the gaps before the slot are lost */
    insert(&ledger->gaps, at, takt_gaps_run(rule, slot_of(rule, &used, 1), run.until_us));
    insert(&ledger->gaps, at, takt_gaps_run(rule, run.first, t_us));
}
