/*
 * worth.c: see worth.h.
 */
#include "core/worth.h"

#include "base/integers.h"
#include "core/line.h"

/* A step is worth that time, of a lookahead of any length. */
static int64_t step_us(const takt_ledger *ledger)
{
    return takt_max(ledger->numbers->lookahead_us, TAKT_WORTH_STEP);
}

static int64_t worth_of(const takt_ledger *ledger, int64_t span_us)
{
    takt_wide worth = (takt_wide)span_us * TAKT_WORTH_STEP / step_us(ledger);

    return worth < TAKT_OWED_MAX ? takt_max((int64_t)worth, 1) : TAKT_OWED_MAX;
}

void takt_worth_note(const takt_ledger *ledger, takt_place *place, takt_amounts given)
{
    const takt_numbers *numbers = ledger->numbers;
    int64_t places = 0, least_us = TAKT_SPAN_MAX_US;

    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *other = &ledger->line[i];
        takt_amounts needed;
        if (other->aside || other->priority != place->priority)
            continue;
        for (int unit = 0; unit < TAKT_UNITS; unit++)
            needed.of[unit] = takt_line_need(other, unit);
        least_us = takt_min(least_us, takt_numbers_worth(numbers, &ledger->state, needed));
        places++;
    }
    place->moves = worth_of(ledger, takt_numbers_worth(numbers, &ledger->state, given));
    place->usual = worth_of(ledger, takt_max(numbers->lookahead_us / places, least_us));
}

takt_amounts takt_worth_before(const takt_ledger *ledger, int64_t numbers, int64_t others)
{
    int64_t span_us = takt_min(numbers, TAKT_WORTH_AHEAD_MAX) * others * step_us(ledger);

    return takt_numbers_throughput(ledger->numbers, &ledger->state,
                                   span_us / (TAKT_WORTH_AHEAD_PART * TAKT_WORTH_STEP));
}
