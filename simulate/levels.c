/*
 * levels.c: see levels.h.
 */
#include "simulate/levels.h"

#include <string.h>

#include "base/fail.h"
#include "policy/amounts.h"
#include "policy/unit_text.h"

/* Whether a level counts a cost without a name. */
static bool counts_cost(const takt_limit *limit)
{
    for (int i = 0; i < limit->numbers.rule_count; i++)
        if (limit->numbers.rules[i].unit == TAKT_UNIT_TOKENS && limit->unit[0] == '\0')
            return true;
    return false;
}

static bool is_enforced(const takt_limit *outer)
{
    return outer->mode == TAKT_MODE_ENFORCE;
}

/* The default of a unit that two levels name: one has to be stated where they differ. */
static void join_default(int32_t *known, int32_t usual)
{
    if (*known != usual)
        *known = 0;
}

/* The unit of that name among those of all levels, which gets a number if it has none: a policy has
 * no more than there are.  With `cost` the first number is that of a cost without a name. */
static int number_unit(takt_limit *joined, const char *name, int32_t usual, bool cost)
{
    int i = 0;

    if (!cost && (joined->unit[0] == '\0' || strcmp(joined->unit, name) == 0)) {
        if (joined->unit[0] == '\0')
            joined->default_amount = usual;
        strcpy(joined->unit, name);
        join_default(&joined->default_amount, usual);
        return TAKT_UNIT_TOKENS;
    }
    while (i < TAKT_MORE_MAX - 1 && joined->more_units[i][0] != '\0' &&
           strcmp(joined->more_units[i], name) != 0)
        i++;
    if (joined->more_units[i][0] == '\0') {
        strcpy(joined->more_units[i], name);
        joined->more_defaults.of[i] = usual;
    }
    join_default(&joined->more_defaults.of[i], usual);
    return TAKT_UNIT_MORE + i;
}

/* The number that a rule's unit has among those of all levels. */
static int unit_of(takt_limit *joined, const takt_limit *limit, takt_unit unit, bool cost)
{
    const char *name = takt_unit_name_in(limit, unit);
    int32_t usual = unit == TAKT_UNIT_TOKENS ? limit->default_amount : 0;

    if (unit == TAKT_UNIT_REQUESTS || name[0] == '\0')
        return (int)unit;
    if (unit >= TAKT_UNIT_MORE)
        usual = limit->more_defaults.of[unit - TAKT_UNIT_MORE];
    return number_unit(joined, name, usual, cost);
}

static int add_rules(takt_limit *joined, const takt_limit *limit, bool cost, takt_error *error)
{
    takt_numbers *all = &joined->numbers;

    if (all->rule_count + limit->numbers.rule_count > TAKT_RULES_MAX)
        return takt_fail(error, TAKT_E_POLICY,
                         "limit \"%s\" and those that it is within have more than %d rules; "
                         "simulate one of them",
                         joined->name, TAKT_RULES_MAX);
    for (int i = 0; i < limit->numbers.rule_count; i++) {
        takt_rule *rule = &all->rules[all->rule_count];
        *rule = limit->numbers.rules[i];
        rule->unit = (takt_unit)unit_of(joined, limit, rule->unit, cost);
        all->rule_count++;
    }
    return 0;
}

static void join_permits(takt_numbers *all, const takt_numbers *more)
{
    if (more->concurrency == 0 || (all->concurrency > 0 && more->concurrency >= all->concurrency))
        return;
    all->concurrency = more->concurrency;
    all->lease_us = more->lease_us;
}

int takt_levels_join(takt_limit *joined, const takt_limit *limit, takt_error *error)
{
    bool cost = counts_cost(limit);
    int code;

    *joined = *limit;
    joined->within = NULL;
    joined->numbers.rule_count = 0;
    joined->unit[0] = '\0';
    joined->default_amount = 0;
    memset(joined->more_units, 0, sizeof joined->more_units);
    joined->more_defaults = TAKT_NO_MORE;
    for (const takt_limit *outer = limit->within; outer; outer = outer->within)
        cost = cost || (is_enforced(outer) && counts_cost(outer));
    code = add_rules(joined, limit, cost, error);
    for (const takt_limit *outer = limit->within; code == 0 && outer; outer = outer->within) {
        if (!is_enforced(outer))
            continue;
        code = add_rules(joined, outer, cost, error);
        join_permits(&joined->numbers, &outer->numbers);
    }
    return code;
}

const char *takt_levels_name(const takt_limit *limit, int rule)
{
    for (const takt_limit *level = limit;; level = level->within) {
        int count = level == limit || is_enforced(level) ? level->numbers.rule_count : 0;
        if (rule < count)
            return level->name;
        rule -= count;
    }
}

/* A limit that names one unit takes the cost as its amount. */
static void name_cost(const takt_limit *joined, takt_request *request)
{
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
        if (request->amounts[i].unit)
            return;
    if (joined->unit[0] == '\0' || joined->more_units[0][0])
        return;
    request->amounts[0] = (takt_amount){joined->unit, request->cost};
    request->cost = 1;
}

int takt_levels_amounts(const takt_limit *joined, int32_t cost, const takt_amount *amounts,
                        int32_t *taken, takt_more *more, takt_error *error)
{
    takt_request request = TAKT_REQUEST(joined->name);
    int code;

    request.cost = cost;
    memcpy(request.amounts, amounts, sizeof request.amounts);
    name_cost(joined, &request);
    code = takt_amounts_check(&request, &joined, 1, error);
    return code == 0 ? takt_amounts_read(&request, joined, taken, more, error) : code;
}
