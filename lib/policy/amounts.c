/*
 * amounts.c: see amounts.h.
 */
#include "policy/amounts.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "policy/unit_text.h"

/* The limit that names the units, also for a key whose override has no rules. */
static const takt_limit *naming(const takt_limit *limit)
{
    return limit->access != TAKT_ACCESS_LIMITED && limit->base ? limit->base : limit;
}

/* The i-th unit that a limit's rules name; "": they name fewer. */
static const char *unit_at(const takt_limit *limit, int i)
{
    int unit = i == 0 ? (int)TAKT_UNIT_TOKENS : (int)TAKT_UNIT_REQUESTS + i;

    return takt_unit_name_in(naming(limit), (takt_unit)unit);
}

/* The amount that the request states of a unit; NULL: none. */
static const takt_amount *stated(const takt_request *request, const char *unit)
{
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
        if (request->amounts[i].unit && strcmp(request->amounts[i].unit, unit) == 0)
            return &request->amounts[i];
    return NULL;
}

/* Whether requests state amounts of a unit of that name; "": the cost. */
static bool is_counted(const takt_limit *const *limits, int count, const char *name)
{
    for (int level = 0; level < count; level++) {
        int unit = takt_unit_named_in(naming(limits[level]), name);
        if (unit >= 0 && unit != TAKT_UNIT_REQUESTS)
            return true;
    }
    return false;
}

/* Whether a later amount is of the same unit. */
static bool is_stated_again(const takt_request *request, int i)
{
    for (int j = i + 1; j < TAKT_AMOUNTS_MAX; j++)
        if (request->amounts[j].unit &&
            strcmp(request->amounts[i].unit, request->amounts[j].unit) == 0)
            return true;
    return false;
}

/* Refuses an amount that no level counts. */
static int refuse_unit(const takt_request *request, const takt_limit *const *limits, int count,
                       const char *unit, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE],
        counted[TAKT_LEVELS_MAX * TAKT_AMOUNTS_MAX * (TAKT_UNIT_SIZE_MAX + 2)] = "";
    size_t used = 0;
    takt_suggestion meant;

    takt_quote(unit, quoted);
    takt_suggest_begin(&meant, unit);
    if (strcmp(unit, "requests") == 0)
        return takt_fail(
            error, TAKT_E_INVALID,
            "limit \"%s\": an amount of \"requests\"; leave it out: each acquire is one "
            "request",
            request->limit);
    for (int i = 0; i < count * TAKT_AMOUNTS_MAX; i++) {
        const char *name = unit_at(limits[i / TAKT_AMOUNTS_MAX], i % TAKT_AMOUNTS_MAX);
        if (name[0])
            takt_suggest_offer(&meant, name);
        if (name[0])
            used += (size_t)snprintf(counted + used, sizeof counted - used, "%s%s",
                                     used > 0 ? ", " : "", name);
    }
    if (used == 0)
        return takt_fail(error, TAKT_E_INVALID,
                         "limit \"%s\": an amount of %s, and its rules name no unit; state a cost "
                         "without a unit, or let a rule of the policy count it",
                         request->limit, quoted);
    if (meant.best)
        return takt_fail(error, TAKT_E_INVALID,
                         "limit \"%s\": an amount of %s; did you mean \"%s\"? Its rules count %s",
                         request->limit, quoted, meant.best, counted);
    return takt_fail(error, TAKT_E_INVALID, "limit \"%s\": an amount of %s; its rules count %s",
                     request->limit, quoted, counted);
}

static int check_stated(const takt_request *request, const takt_limit *const *limits, int count,
                        takt_error *error)
{
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        const takt_amount *amount = &request->amounts[i];
        if (!amount->unit)
            continue;
        if (!amount->unit[0] || !is_counted(limits, count, amount->unit))
            return refuse_unit(request, limits, count, amount->unit, error);
        if (is_stated_again(request, i))
            return takt_fail(error, TAKT_E_INVALID,
                             "limit \"%s\": two amounts of %s; ask for their sum", request->limit,
                             amount->unit);
        if (amount->amount < 1 || amount->amount > TAKT_COST_MAX)
            return takt_fail(error, TAKT_E_INVALID, "limit \"%s\": %lld %s; ask for 1 to %d",
                             request->limit, (long long)amount->amount, amount->unit,
                             TAKT_COST_MAX);
    }
    return 0;
}

/* A cost other than the default, where no level takes it. */
static int check_cost(const takt_request *request, const takt_limit *const *limits, int count,
                      takt_error *error)
{
    if (request->cost == 1 || is_counted(limits, count, ""))
        return 0;
    return takt_fail(error, TAKT_E_INVALID,
                     "limit \"%s\": a cost of %d, and its rules count %s; state the amount of %s "
                     "instead",
                     request->limit, (int)request->cost, unit_at(limits[0], 0),
                     unit_at(limits[0], 0));
}

int takt_amounts_check(const takt_request *request, const takt_limit *const *limits, int count,
                       takt_error *error)
{
    int code = check_stated(request, limits, count, error);
    return code == 0 ? check_cost(request, limits, count, error) : code;
}

/* The amount of a unit that a limit names. */
static int read_amount(const takt_request *request, const takt_limit *limit, const char *name,
                       int32_t usual, int32_t *amount, takt_error *error)
{
    const takt_amount *given = stated(request, name);

    *amount = given ? (int32_t)given->amount : usual;
    if (*amount > 0)
        return 0;
    return takt_fail(error, TAKT_E_INVALID,
                     "limit \"%s\": no amount of %s, which its rules count; state it, or "
                     "give the rule a default_amount in the policy",
                     limit->name, name);
}

int takt_amounts_read(const takt_request *request, const takt_limit *limit, int32_t *cost,
                      takt_more *more, takt_error *error)
{
    int code = 0;

    *cost = request->cost;
    *more = TAKT_NO_MORE;
    if (limit->unit[0])
        code = read_amount(request, limit, limit->unit, limit->default_amount, cost, error);
    for (int i = 0; code == 0 && i < TAKT_MORE_MAX && limit->more_units[i][0]; i++)
        code = read_amount(request, limit, limit->more_units[i], limit->more_defaults.of[i],
                           &more->of[i], error);
    return code;
}
