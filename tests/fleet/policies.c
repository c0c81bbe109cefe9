/*
 * policies.c: random policies whose effects show within a run of some seconds: 0.3 to 1000 tokens a
 * second.
 */
#include <stdlib.h>

#include "core/brake.h"
#include "scenario.h"

static const char *const names[] = {"gcra",         "token-bucket", "leaky-bucket",
                                    "fixed-window", "sliding-log",  "sliding-window"};
static const int64_t periods_us[] = {10000, 100000, 250000, 1000000, 1000000, 7000000, 60000000};
static const int64_t limits[] = {1, 2, 3, 7, 10, 13, 50, 60, 100, 300, 333};
static const int64_t lookaheads_us[] = {250000, 250000, 250000, 50000, 1000000, 3000000};

#define COUNT(array)       ((int64_t)(sizeof(array) / sizeof *(array)))
#define ONE(random, array) ((array)[draw((random), COUNT(array))])

int64_t draw(uint64_t *random, int64_t below)
{
    return (int64_t)((takt_random(random) >> 16) % (uint64_t)below);
}

bool chance(uint64_t *random, int percent)
{
    return draw(random, 100) < percent;
}

static const takt_algorithm *draw_algorithm(uint64_t *random)
{
    const takt_algorithm *algorithm;

    if (chance(random, 50))
        return takt_algorithm_named("gcra");
    do
        algorithm = takt_algorithm_named(ONE(random, names));
    while (!algorithm);
    return algorithm;
}

/* At least 0.3 and at most 1000 tokens a second. */
static void draw_rate(takt_rule *rule, uint64_t *random)
{
    do {
        rule->limit = ONE(random, limits);
        rule->period_us = ONE(random, periods_us);
    } while (rule->limit * 10000000 < rule->period_us * 3 || rule->limit * 1000 > rule->period_us);
}

static void draw_rule(takt_rule *rule, uint64_t *random, const takt_rule *first)
{
    *rule = (takt_rule){.algorithm = draw_algorithm(random)};
    draw_rate(rule, random);
    if (first &&
        chance(random,
               70)) { /* a longer period, and a little less than the first one lets through */
        rule->period_us = first->period_us * (2 + draw(random, 20));
        rule->limit = 1 + (int64_t)((wide)first->limit * rule->period_us / first->period_us *
                                    (50 + draw(random, 70)) / 100);
    }
    if (rule->algorithm == takt_algorithm_named("gcra") ||
        rule->algorithm == takt_algorithm_named("token-bucket"))
        rule->burst =
            chance(random, 40) ? 1 : 1 + draw(random, chance(random, 50) ? 10 : rule->limit);
    if (chance(random, 15))
        rule->headroom_bp = 100 * (1 + draw(random, 20));
    if (rule->algorithm == takt_algorithm_named("fixed-window") && chance(random, 50))
        rule->align = TAKT_ALIGN_FIRST_USE;
}

/* A third of the fleets keep their rates for work that begins a little late. */
void policy_draw_guards(takt_limit *policies, int count, uint64_t random)
{
    if (!chance(&random, 35))
        return;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < policies[i].numbers.rule_count; j++) {
            takt_rule guarded = policies[i].numbers.rules[j];
            guarded.guard_us = draw(&random, guarded.period_us / (2 + draw(&random, 20)) + 1);
            if (chance(&random, 80) && takt_rule_prepare(&guarded, NULL) == 0)
                policies[i].numbers.rules[j] = guarded;
        }
}

int64_t policy_capacity(const takt_numbers *numbers)
{
    int64_t capacity = takt_numbers_capacity(numbers, TAKT_UNIT_TOKENS, NULL);

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        capacity =
            takt_min(capacity, takt_numbers_capacity(numbers, TAKT_UNIT_MORE + (takt_unit)i, NULL));
    return capacity;
}

/* A tenth of the fleets have rules that count further units. */
static void draw_more_units(takt_limit *policies, int count, uint64_t *random)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < policies[i].numbers.rule_count; j++)
            if (chance(random, 50))
                policies[i].numbers.rules[j].unit =
                    TAKT_UNIT_MORE + (takt_unit)draw(random, TAKT_MORE_MAX);
}

/* A fifth of the fleets have rules that count requests. */
void policy_draw_units(takt_limit *policies, int count, uint64_t random)
{
    unsigned requests = (unsigned)draw(&random, 1 << TAKT_RULES_MAX);

    if (!chance(&random, 20))
        return;
    for (int i = 0; i < count; i++) {
        if (chance(&random, 20))
            requests = (unsigned)draw(&random, 1 << TAKT_RULES_MAX);
        for (int j = 0; j < policies[i].numbers.rule_count; j++)
            policies[i].numbers.rules[j].unit =
                requests >> j & 1 ? TAKT_UNIT_REQUESTS : TAKT_UNIT_TOKENS;
    }
}

void policy_draw_more_units(takt_limit *policies, int count, uint64_t random)
{
    if (chance(&random, 10))
        draw_more_units(policies, count, &random);
}

/* A lowered rate has recovered some seconds before the calm. */
void policy_draw_adapt(takt_limit *policies, int count, uint64_t *random)
{
    static const int64_t times_us[] = {100000, 500000, 1000000};
    int64_t time_us = ONE(random, times_us);

    for (int i = 0; i < count; i++) {
        takt_limit *limit = &policies[i];
        if (chance(random, 15))
            continue; /* newer numbers may have none */
        limit->numbers.adapt =
            (takt_adapt){1 + draw(random, 99), 30 + draw(random, 71), time_us, 1};
        limit->numbers.adapt.floor = 1 + draw(random, 60);
        if (limit->numbers.rule_count == 0 || !takt_brake_fits(&limit->numbers))
            limit->numbers.adapt = (takt_adapt){0};
    }
}

/* Half of the limits with permits have nothing else. */
void policy_draw_permits(takt_limit *policies, int count, uint64_t *random)
{
    static const int64_t leases_us[] = {1000000, 1000000, 2000000, 3000000, 10000000};
    static const int64_t numbers[] = {1, 1, 2, 3, 5, 8, 20, 50};
    int64_t concurrency = ONE(random, numbers), lease_us = ONE(random, leases_us);
    bool alone = chance(random, 50);

    for (int i = 0; i < count; i++) {
        policies[i].numbers.concurrency = concurrency;
        policies[i].numbers.lease_us = lease_us;
        policies[i].numbers.rule_count = alone ? 0 : policies[i].numbers.rule_count;
    }
}

void policy_draw(takt_limit *limit, uint64_t *random, int64_t revision, const takt_limit *before)
{
    *limit = (takt_limit){.name = "any", .numbers.rule_count = 1, .numbers.revision = revision};
    limit->numbers.lookahead_us =
        before && chance(random, 70) ? before->numbers.lookahead_us : ONE(random, lookaheads_us);
    if (chance(random, 40))
        limit->numbers.rule_count = 2 + (int)draw(random, 2);
    for (int i = 0; i < limit->numbers.rule_count; i++) {
        const takt_rule *first = i > 0 ? &limit->numbers.rules[0] : NULL;
        do /* some headrooms are too fine for some rates */
            draw_rule(&limit->numbers.rules[i], random, first);
        while (takt_rule_prepare(&limit->numbers.rules[i], NULL) < 0);
    }
    if (chance(random, 20)) {
        limit->numbers.max_waiting = 1 + draw(random, 40);
        limit->numbers.when_full = (takt_when_full)draw(random, 3);
    }
}
