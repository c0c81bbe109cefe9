/*
 * share.c: see share.h.
 */
#include "scheduler/share.h"

#include "base/random.h"

/* A rule's part for one of so many workers.  A rate too slow to be represented becomes slower. */
static takt_rule part_of(const takt_rule *rule, int64_t workers)
{
    takt_rule part = {
        .algorithm = &takt_gcra, .unit = rule->unit, .limit = rule->tokens, .burst = 1};

    if (!__builtin_mul_overflow(rule->span_us, workers, &part.period_us) &&
        takt_rule_prepare(&part, NULL) == 0)
        return part;
    part.limit = 1;
    if (__builtin_mul_overflow(rule->span_us / rule->tokens + 1, workers, &part.period_us) ||
        part.period_us > TAKT_SPAN_MAX_US)
        part.period_us = TAKT_SPAN_MAX_US;
    (void)takt_rule_prepare(&part, NULL); /* cannot fail with such numbers */
    return part;
}

void takt_share_begin(takt_share *share, const takt_numbers *numbers, int64_t workers,
                      int64_t from_us, uint64_t *random)
{
    int64_t reached_us = takt_numbers_rest_at(&share->numbers, &share->state);

    share->numbers.rule_count = numbers->rule_count;
    for (int i = 0; i < numbers->rule_count; i++) {
        takt_rule *part = &share->numbers.rules[i];
        int64_t first_us = reached_us;
        *part = part_of(&numbers->rules[i], workers > 1 ? workers : 1);
        if (reached_us <= from_us)
            first_us = from_us + takt_random_below(random, part->interval.us + 1);
        share->state.rules[i].gcra.tat = (takt_fraction){first_us, 0};
    }
}

int64_t takt_share_next(const takt_share *share, int64_t now_us)
{
    return takt_numbers_earliest(&share->numbers, &share->state, now_us, takt_amounts_of_cost(1));
}

void takt_share_take(takt_share *share, int64_t slot_us, int32_t cost, takt_more more)
{
    takt_numbers_commit(&share->numbers, &share->state, slot_us, takt_amounts_of(cost, more));
}
