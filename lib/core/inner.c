/*
 * inner.c: see inner.h.
 */
#include "core/inner.h"

#include "base/integers.h"
#include "core/gaps.h"
#include "core/inner_line.h"
#include "core/meter.h"

/* Loops over the inner ledgers, the innermost first. */
#define EACH_INNER(at, ledger)                                                                     \
    for (struct {                                                                                  \
             int i;                                                                                \
             takt_ledger *inner;                                                                   \
         } at = {0, NULL};                                                                         \
         at.i < (ledger)->inner_count && (at.inner = (ledger)->inner[at.i]); at.i++)

int64_t takt_inner_from(const takt_ledger *ledger, int64_t now_us)
{
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);

    EACH_INNER(at, ledger)
    from_us = takt_max(from_us, at.inner->blocked_until_us);
    return from_us;
}

bool takt_inner_can_give(const takt_ledger *ledger, takt_amounts taken)
{
    EACH_INNER(at, ledger)
    if (!takt_numbers_can_give(at.inner->numbers, takt_amounts_by(at.inner->units, taken)))
        return false;
    return true;
}

int64_t takt_inner_due(const takt_ledger *ledger, int64_t from_us, takt_amounts one)
{
    EACH_INNER(at, ledger)
    if (from_us != TAKT_NEVER)
        from_us = takt_numbers_earliest(at.inner->numbers, &at.inner->state,
                                        takt_max(from_us, at.inner->blocked_until_us),
                                        takt_amounts_by(at.inner->units, one));
    return from_us;
}

/* A ledger without a paced rule may give all tokens of a window at its begin: what a place can use
 * until the next one is left to it. */
static int64_t soon(const takt_ledger *ledger)
{
    const takt_numbers *numbers = ledger->numbers;
    int64_t span_us = TAKT_SPAN_MAX_US, ahead_us = 2 * numbers->lookahead_us;

    for (int i = 0; i < numbers->rule_count; i++)
        span_us =
            numbers->rules[i].algorithm->paced ? 0 : takt_min(span_us, numbers->rules[i].span_us);
    return numbers->rule_count > 0 ? takt_max(span_us, ahead_us) : ahead_us;
}

/* How many units of a level bound what a place can use: tokens and requests in any case. */
static int units_of(const takt_ledger *inner)
{
    return (int)takt_max(takt_numbers_units(inner->numbers), TAKT_UNIT_MORE);
}

/* Whether it counts other units than the claim's tokens, and requests. */
static bool has_other_units(const takt_ledger *inner)
{
    return takt_numbers_count_more(inner->numbers) || !takt_unit_map_is_plain(inner->units);
}

/* Of the units of the outermost ledger a place wants at least what its first waiter needs. */
static void want_first(const takt_ledger *ledger, takt_place *place, takt_amounts first)
{
    place->wanting = takt_max(place->wanting, place->need);
    for (int unit = TAKT_UNIT_MORE; unit < takt_numbers_units(ledger->numbers); unit++)
        place->more.of[unit] = takt_max(place->more.of[unit], first.of[unit]);
}

/* Lowers what the levels so far give a place, in the claim's units, to what an inner one gives.
 * Returns for how many waiters like the first that is enough. */
static int64_t cap_by(takt_ledger *inner, int64_t now_us, int64_t until_us, takt_place *place,
                      takt_amounts first, int64_t able, takt_amounts *within)
{
    takt_amounts room = takt_numbers_room(inner->numbers, &inner->state,
                                          takt_max(now_us, inner->blocked_until_us), until_us);
    takt_amounts own = takt_amounts_by(inner->units, first);
    int64_t permits;
    takt_amounts ahead =
        takt_inner_ahead(inner, now_us, place, takt_amounts_by(inner->units, *within), &permits);

    able = takt_min(able, permits);
    TAKT_EACH_UNIT(unit, units_of(inner))
    {
        int64_t left = takt_max(room.of[unit] - ahead.of[unit], 0);
        int64_t *least = &within->of[takt_unit_by(inner->units, unit)];
        able = takt_min(able, left / own.of[unit]);
        *least = takt_min(*least, left);
    }
    within->of[TAKT_UNIT_REQUESTS] = takt_max(able, 0);
    /* of the units that are not scarce here it wants no more than so many waiters take */
    TAKT_EACH_UNIT(unit, has_other_units(inner) ? TAKT_UNITS : 0)
    within->of[unit] = takt_min(within->of[unit], within->of[TAKT_UNIT_REQUESTS] * first.of[unit]);
    return able;
}

bool takt_inner_cap(const takt_ledger *ledger, int64_t now_us, takt_place *place, int64_t turn_us)
{
    int64_t until_us = takt_max(now_us + soon(ledger), turn_us), able = place->waiting;
    const takt_stated *stated = &ledger->stated[place->priority];
    takt_amounts within = {{0}}, first = takt_amounts_of(place->need, stated->first);
    bool others = false;

    TAKT_EACH_UNIT(unit, TAKT_UNITS)
    within.of[unit] = TAKT_EXACT_MAX;
    EACH_INNER(at, ledger)
    {
        able = cap_by(at.inner, now_us, until_us, place, first, able, &within);
        others |= has_other_units(at.inner);
    }
    place->wanting = takt_min(stated->tokens, within.of[TAKT_UNIT_TOKENS]);
    for (int unit = TAKT_UNIT_MORE; unit < TAKT_UNITS; unit++)
        place->more.of[unit] =
            takt_min(stated->more.of[unit], within.of[takt_unit_by(ledger->units, unit)]);
    if (others && able > 0)
        want_first(ledger, place, takt_amounts_by(ledger->units, first));
    place->held_back = place->waiting - able;
    return able > 0;
}

/* Whether other workers want slots. */
static bool others_want(const takt_ledger *ledger, uint64_t worker)
{
    for (int i = 0; i < ledger->line_count; i++)
        if (ledger->line[i].worker != worker && !ledger->line[i].aside &&
            ledger->line[i].wanting > 0)
            return true;
    return false;
}

/* The first gap from due_us on that suits; TAKT_NEVER: none. */
static int64_t gap_at(const takt_ledger *ledger, int64_t from_us, int64_t due_us, takt_amounts one)
{
    int rule = takt_gaps_rule(ledger->numbers);

    if (ledger->gaps.count == 0 || one.of[ledger->numbers->rules[rule].unit] != 1)
        return TAKT_NEVER;
    for (int i = 0; i < TAKT_GAPS_MAX; i++) {
        int64_t gap_us = takt_gaps_next(ledger, from_us, due_us);
        if (gap_us == TAKT_NEVER)
            break;
        due_us = takt_numbers_earliest_beside(ledger->numbers, &ledger->state, rule, gap_us, one);
        if (due_us == gap_us)
            return gap_us;
    }
    return TAKT_NEVER;
}

/* When one request may start by all rules, from due_us on, at which the inner ones conform. *gap:
 * it is a slot that was passed over. */
static int64_t slot_at(const takt_ledger *ledger, int64_t from_us, int64_t due_us, takt_amounts one,
                       bool *gap)
{
    takt_amounts own = takt_amounts_by(ledger->units, one);
    int64_t at_us = takt_numbers_earliest(ledger->numbers, &ledger->state, due_us, own);
    int64_t gap_us = gap_at(ledger, from_us, due_us, own);

    *gap = gap_us < at_us;
    return *gap ? gap_us : at_us;
}

int64_t takt_inner_next(const takt_ledger *ledger, int64_t from_us, takt_amounts one)
{
    int64_t due_us = takt_inner_due(ledger, from_us, one);
    bool gap;

    return due_us == TAKT_NEVER ? due_us : slot_at(ledger, from_us, due_us, one, &gap);
}

bool takt_inner_is_whole(const takt_ledger *ledger, uint64_t worker, int64_t from_us)
{
    return ledger->inner_count > 0 && takt_gaps_are_kept(ledger) &&
           ledger->gaps.count < TAKT_GAPS_MAX && takt_gaps_are_used(ledger, from_us) &&
           others_want(ledger, worker);
}

/* The same of a worker: a slot that its inner rules put off may be put off to a whole interval. */
static int64_t slot_of(const takt_ledger *ledger, uint64_t worker, int64_t from_us, int64_t due_us,
                       takt_amounts one, bool *gap)
{
    int64_t at_us = slot_at(ledger, from_us, due_us, one, gap);

    if (!*gap && at_us == due_us && takt_inner_is_whole(ledger, worker, from_us))
        at_us = takt_numbers_earliest(ledger->numbers, &ledger->state,
                                      takt_gaps_whole(ledger, from_us, at_us),
                                      takt_amounts_by(ledger->units, one));
    return at_us;
}

int64_t takt_inner_slot(const takt_ledger *ledger, uint64_t worker, int64_t from_us, int64_t due_us,
                        takt_amounts one)
{
    bool gap;

    return slot_of(ledger, worker, from_us, due_us, one, &gap);
}

/* Takes one slot from all levels. */
static void take(takt_ledger *ledger, int64_t from_us, int64_t at_us, takt_amounts one, bool gap)
{
    takt_amounts own = takt_amounts_by(ledger->units, one);

    if (gap) {
        takt_gaps_take(ledger, from_us, at_us);
        takt_numbers_commit_beside(ledger->numbers, &ledger->state, takt_gaps_rule(ledger->numbers),
                                   at_us, own);
    } else {
        takt_gaps_pass_over(ledger, from_us, at_us);
        takt_numbers_commit(ledger->numbers, &ledger->state, at_us, own);
    }
    EACH_INNER(at, ledger)
    takt_numbers_commit(at.inner->numbers, &at.inner->state, at_us,
                        takt_amounts_by(at.inner->units, one));
}

bool takt_inner_waits(const takt_ledger *ledger, uint64_t worker, int64_t from_us, int64_t due_us,
                      takt_amounts one)
{
    return ledger->inner_count > 0 && ledger->numbers->rule_count > 0 &&
           !takt_gaps_are_kept(ledger) &&
           takt_numbers_earliest(ledger->numbers, &ledger->state, from_us,
                                 takt_amounts_by(ledger->units, one)) < due_us &&
           others_want(ledger, worker);
}

int64_t takt_inner_take(takt_ledger *ledger, int64_t from_us, const takt_want *want,
                        uint64_t worker, int64_t count, int64_t until_us, takt_award *award)
{
    takt_amounts one = takt_amounts_of(want->cost, want->more);
    int64_t taken = 0;

    if (count > 0)
        takt_numbers_pay_ahead(ledger->numbers, &ledger->state, until_us);
    EACH_INNER(at, ledger)
    if (count > 0)
        takt_numbers_pay_ahead(at.inner->numbers, &at.inner->state, until_us);
    for (int steps = 0; taken < count && steps < TAKT_TAKE_STEPS_MAX; steps++, taken++) {
        int64_t due_us = takt_inner_due(ledger, from_us, one), at_us;
        bool gap;
        if (due_us > until_us) /* also for TAKT_NEVER */
            break;
        at_us = slot_of(ledger, worker, from_us, due_us, one, &gap);
        if (at_us > until_us || takt_inner_waits(ledger, worker, from_us, due_us, one) ||
            !takt_runs_append(award->runs, &award->run_count, TAKT_RUNS_MAX, at_us, want->cost,
                              want->more))
            break;
        take(ledger, from_us, at_us, one, gap);
    }
    return taken;
}

void takt_inner_count(takt_ledger *ledger, takt_amounts given)
{
    EACH_INNER(at, ledger)
    takt_meter_add(at.inner, takt_amounts_by(at.inner->units, given).of[TAKT_UNIT_TOKENS]);
}
