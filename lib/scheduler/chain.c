/*
 * chain.c: see chain.h.
 */
#include "scheduler/chain.h"

#include <string.h>

/* ---- whether one claim decides --------------------------------------------------------------- */

static bool has_tenants(const takt_limit *limit)
{
    return limit->fair != TAKT_FAIR_WORKER;
}

takt_inside takt_chain_inside(const takt_chain *chain)
{
    if (!has_tenants(chain->limits[0]))
        return TAKT_INSIDE_NONE;
    return has_tenants(chain->limits[chain->count - 1]) ? TAKT_INSIDE_ALIKE : TAKT_INSIDE_WITHIN;
}

/* Whether a limit between has tenants that the outermost one does not have. */
static bool has_tenants_between(const takt_chain *chain)
{
    if (has_tenants(chain->limits[chain->count - 1]))
        return false;
    for (int i = 1; i + 1 < chain->count; i++)
        if (has_tenants(chain->limits[i]))
            return true;
    return false;
}

static bool suits(const takt_chain *chain, int level)
{
    const takt_limit *limit = chain->limits[level];

    return limit->mode == chain->limits[0]->mode && limit->access != TAKT_ACCESS_UNLIMITED;
}

bool takt_chain_is_nested(const takt_chain *chain)
{
    takt_chain_units units;

    for (int i = 0; i < chain->count; i++)
        if (!suits(chain, i))
            return false;
    return chain->count > 1 && !has_tenants_between(chain) && takt_chain_number(chain, &units);
}

/* ---- units ----------------------------------------------------------------------------------- */

static bool counts(const takt_limit *limit, int amount)
{
    for (int i = 0; i < limit->numbers.rule_count; i++)
        if ((int)limit->numbers.rules[i].unit == takt_unit_at(amount))
            return true;
    return false;
}

/* The name of a limit's unit, and its default amount; 0: a request must state the amount. */
static const char *unit_of(const takt_limit *limit, int amount, int32_t *usual)
{
    *usual = amount == 0 ? limit->default_amount : limit->more_defaults.of[amount - 1];
    return amount == 0 ? limit->unit : limit->more_units[amount - 1];
}

/* Whether a request takes as much of both units.  If one of them has no default, each request
 * states the amount. */
static bool are_alike(const takt_limit *a, int amount, const takt_limit *b, int other)
{
    int32_t usual, other_usual;
    bool same = strcmp(unit_of(a, amount, &usual), unit_of(b, other, &other_usual)) == 0;

    return same && (usual == other_usual || usual == 0 || other_usual == 0);
}

/* The number of a level's amount among the claim's; an amount without a number gets one. -1: no
 * number is left. */
static int number_of(const takt_chain *chain, int level, int amount, takt_chain_units *units)
{
    int free = -1;

    for (int i = TAKT_AMOUNTS_MAX - 1; i >= 0; i--) {
        const takt_chain_unit *unit = &units->of[i];
        if (unit->level < 0)
            free = i;
        else if (are_alike(chain->limits[level], amount, chain->limits[unit->level], unit->amount))
            return i;
    }
    if (free >= 0)
        units->of[free] = (takt_chain_unit){(int8_t)level, (int8_t)amount};
    return free;
}

static bool number_level(const takt_chain *chain, int level, takt_chain_units *units)
{
    for (int amount = 0; amount < TAKT_AMOUNTS_MAX; amount++) {
        int number;
        if (!counts(chain->limits[level], amount))
            continue;
        number = number_of(chain, level, amount, units);
        if (number < 0)
            return false;
        units->maps[level].shift[amount] = (int8_t)(number - amount);
    }
    return true;
}

bool takt_chain_number(const takt_chain *chain, takt_chain_units *units)
{
    int outermost = chain->count - 1;

    *units = (takt_chain_units){.of = {{0, 0}}};
    if (chain->numbered) {
        memcpy(units->maps, chain->maps, sizeof units->maps);
        return true;
    }
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        bool own = counts(chain->limits[outermost], i);
        units->of[i] = (takt_chain_unit){(int8_t)(own ? outermost : -1), (int8_t)i};
    }
    for (int level = 0; level < outermost; level++)
        if (!number_level(chain, level, units))
            return false;
    return true;
}

/* The number that a level's amount has in a numbered chain. */
static int given_number(const takt_chain *chain, int level, int amount)
{
    return level + 1 < chain->count ? amount + chain->maps[level].shift[amount] : amount;
}

void takt_chain_state(takt_chain *chain)
{
    for (int level = 0; level < chain->count; level++)
        for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
            chain->stated.of[level][i] = counts(chain->limits[level], i);
}

bool takt_chain_follows(const takt_chain *chain)
{
    bool taken[TAKT_AMOUNTS_MAX] = {false};

    for (int level = 0; level < chain->count; level++)
        for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
            taken[given_number(chain, level, i)] |= chain->stated.of[level][i];
    for (int level = 0; level < chain->count; level++)
        for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
            if (counts(chain->limits[level], i) && !chain->stated.of[level][i] &&
                taken[given_number(chain, level, i)])
                return false;
    return true;
}

bool takt_chain_take(const takt_chain *chain, int32_t *cost, takt_more *more)
{
    int outermost = chain->count - 1;
    takt_chain_units units;

    if (!takt_chain_number(chain, &units))
        return false;
    *cost = (int32_t)chain->costs[outermost];
    *more = TAKT_NO_MORE;
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        const takt_chain_unit *unit = &units.of[i];
        int32_t amount;
        if (unit->level < 0)
            continue;
        amount = unit->amount == 0 ? (int32_t)chain->costs[unit->level]
                                   : chain->more[unit->level].of[unit->amount - 1];
        if (i == 0)
            *cost = amount;
        else
            more->of[i - 1] = amount;
    }
    return true;
}

takt_run takt_chain_part(const takt_numbers *numbers, takt_unit_map map, takt_run run)
{
    int64_t claimed[TAKT_AMOUNTS_MAX] = {run.cost, run.more.of[0], run.more.of[1], run.more.of[2]};
    int units = takt_numbers_units(numbers);

    run.cost = (int32_t)claimed[map.shift[0]];
    for (int i = 1; i < TAKT_AMOUNTS_MAX; i++)
        run.more.of[i - 1] = takt_unit_at(i) < units ? (int32_t)claimed[i + map.shift[i]] : 0;
    return run;
}
