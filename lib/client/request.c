/*
 * request.c: see request.h.
 */
#include "client/request.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/quote.h"
#include "policy/overrides.h"
#include "policy/rule_text.h"

/* What to change in a rule that gives too few tokens at once. */
static const char *remedy_of(const takt_rule *rule)
{
    if (rule->algorithm->takes & TAKT_TAKES_BURST)
        return "raise its burst";
    return rule->algorithm->takes & TAKT_TAKES_QUEUE ? "use an algorithm with a burst"
                                                     : "raise its rate";
}

static int refuse_cost(const takt_limit *limit, int64_t cost, int index, int64_t capacity,
                       takt_error *error)
{
    const takt_rule *rule = &limit->numbers.rules[index];
    char described[160] = "";

    takt_rule_describe(rule, limit->unit, described, sizeof described);
    return takt_fail(error, TAKT_E_COST,
                     "limit \"%s\": %s%lld%s%s can never be given: rules[%d] (%s) gives at most "
                     "%lld at once; ask for less, or %s",
                     limit->name, limit->unit[0] ? "" : "a cost of ", (long long)cost,
                     limit->unit[0] ? " " : "", limit->unit, index, described, (long long)capacity,
                     remedy_of(rule));
}

static const char *given_key(const takt_request *request, int level)
{
    const char *key = level == 0 ? request->key : request->within_keys[level - 1];

    return key ? key : "";
}

/* Refuses a key for a level that has no limit. */
static int refuse_key(const takt_request *request, int at, int around, takt_error *error)
{
    char many[24] = "is none";

    if (around > 0)
        snprintf(many, sizeof many, "%s only %d", around > 1 ? "are" : "is", around);
    return takt_fail(error, TAKT_E_INVALID,
                     "limit \"%s\": within_keys[%d] is for a limit around, and there %s; leave it "
                     "out",
                     request->limit, at, many);
}

/* Checks the keys of all levels; `levels` is their number. */
static int check_keys(const takt_request *request, int levels, takt_error *error)
{
    for (int level = 0; level < TAKT_LEVELS_MAX; level++) {
        const char *key = level == 0 ? request->key : request->within_keys[level - 1];
        if (!key)
            continue;
        if (level >= levels)
            return refuse_key(request, level - 1, levels - 1, error);
        if (strnlen(key, TAKT_KEY_SIZE_MAX + 1) > TAKT_KEY_SIZE_MAX)
            return takt_fail(error, TAKT_E_INVALID,
                             "a key of more than %d bytes; use a shorter one, or its hash",
                             TAKT_KEY_SIZE_MAX);
    }
    return 0;
}

/* Puts the limit that holds for the key of each level in its place. */
static void find_overrides(const takt_request *request, takt_levels *levels)
{
    for (int level = 0; level < levels->count; level++)
        levels->limits[level] =
            takt_overrides_for(levels->limits[level], given_key(request, level));
}

static int hash_keys(const takt_key_secret *secret, const takt_request *request,
                     takt_levels *levels, takt_error *error)
{
    for (int level = 0; level < levels->count; level++) {
        const takt_limit *limit = levels->limits[level];
        levels->hashes[level][0] = '\0';
        if (limit->key_hash && secret &&
            takt_key_hash(secret, limit->name, given_key(request, level), levels->hashes[level]) <
                0)
            return takt_fail(error, TAKT_E_NOMEM, "no memory");
    }
    return 0;
}

const char *takt_request_key(const takt_request *request, const takt_levels *levels, int level)
{
    return levels->hashes[level][0] ? levels->hashes[level] : given_key(request, level);
}

int takt_request_check(const takt_policy *policy, const takt_limit *hint,
                       const takt_key_secret *secret, const takt_request *request,
                       takt_levels *levels, takt_error *error)
{
    const takt_limit *found = hint;
    int count = 0, code;

    if (!request->limit)
        return takt_fail(error, TAKT_E_INVALID, "the request names no limit");
    if (request->cost < 1 || request->cost > TAKT_COST_MAX)
        return takt_fail(error, TAKT_E_INVALID,
                         "a cost of %d; set the request up with TAKT_REQUEST, and ask for 1 to %d",
                         (int)request->cost, TAKT_COST_MAX);
    if (request->priority < TAKT_PRIORITY_POLICY || request->priority > TAKT_PRIORITY_MAX)
        return takt_fail(error, TAKT_E_INVALID, "a priority of %d; use 0 (most urgent) to %d",
                         (int)request->priority, TAKT_PRIORITY_MAX);
    if (request->max_wait_us < 0)
        return takt_fail(error, TAKT_E_INVALID,
                         "a negative max_wait_us; use 0 to wait as long as it takes");
    if (!found || strcmp(found->name, request->limit) != 0)
        found = takt_policy_find(policy, request->limit);
    if (!found)
        return takt_fail(error, TAKT_E_NO_LIMIT, "the policy has no limit \"%.80s\"",
                         request->limit);
    for (const takt_limit *at = found; at && count < TAKT_LEVELS_MAX; at = at->within)
        levels->limits[count++] = at;
    levels->count = count;
    code = check_keys(request, count, error);
    if (code != 0)
        return code;
    find_overrides(request, levels);
    return hash_keys(secret, request, levels, error);
}

/* ---- amounts --------------------------------------------------------------------------------- */

/* The unit of a limit's policy, also for a key whose override has no rules. */
static const char *unit_of(const takt_limit *limit)
{
    return limit->access != TAKT_ACCESS_LIMITED && limit->base ? limit->base->unit : limit->unit;
}

/* The amount that the request states of a unit; NULL: none. */
static const takt_amount *stated(const takt_request *request, const char *unit)
{
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
        if (request->amounts[i].unit && strcmp(request->amounts[i].unit, unit) == 0)
            return &request->amounts[i];
    return NULL;
}

static bool is_counted(const takt_levels *levels, const char *unit)
{
    for (int level = 0; level < levels->count; level++)
        if (strcmp(unit_of(levels->limits[level]), unit) == 0)
            return true;
    return false;
}

/* Refuses an amount that no level counts. */
static int refuse_unit(const takt_request *request, const takt_levels *levels, const char *unit,
                       takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE], counted[TAKT_LEVELS_MAX * (TAKT_UNIT_SIZE_MAX + 2)] = "";
    size_t used = 0;

    takt_quote(unit, quoted);
    if (strcmp(unit, "requests") == 0)
        return takt_fail(
            error, TAKT_E_INVALID,
            "limit \"%s\": an amount of \"requests\"; leave it out: each acquire is one "
            "request",
            request->limit);
    for (int level = 0; level < levels->count; level++) {
        const char *name = unit_of(levels->limits[level]);
        if (name[0])
            used += (size_t)snprintf(counted + used, sizeof counted - used, "%s%s",
                                     used > 0 ? ", " : "", name);
    }
    if (used == 0)
        return takt_fail(error, TAKT_E_INVALID,
                         "limit \"%s\": an amount of %s, and its rules name no unit; ask for a "
                         "cost, or write counts: %s in a rule",
                         request->limit, quoted, unit);
    return takt_fail(error, TAKT_E_INVALID, "limit \"%s\": an amount of %s; its rules count %s",
                     request->limit, quoted, counted);
}

static int check_amounts(const takt_request *request, const takt_levels *levels, takt_error *error)
{
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        const takt_amount *amount = &request->amounts[i];
        if (!amount->unit)
            continue;
        if (!is_counted(levels, amount->unit))
            return refuse_unit(request, levels, amount->unit, error);
        if (stated(request, amount->unit) != amount)
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
static int check_cost(const takt_request *request, const takt_levels *levels, takt_error *error)
{
    if (request->cost == 1 || is_counted(levels, ""))
        return 0;
    return takt_fail(error, TAKT_E_INVALID,
                     "limit \"%s\": a cost of %d, and its rules count %s; ask for %s=%d",
                     request->limit, (int)request->cost, unit_of(levels->limits[0]),
                     unit_of(levels->limits[0]), (int)request->cost);
}

/* What a level whose rules name a unit takes of it; 0: the request has to state it. */
static int64_t amount_of(const takt_request *request, const takt_limit *limit)
{
    const takt_amount *amount = stated(request, limit->unit);

    return amount ? amount->amount : limit->default_amount;
}

static int set_cost(const takt_request *request, takt_levels *levels, int level, takt_error *error)
{
    const takt_limit *limit = levels->limits[level];
    int64_t cost = limit->unit[0] ? amount_of(request, limit) : request->cost, capacity;
    int rule = 0;

    if (cost == 0)
        return takt_fail(error, TAKT_E_INVALID,
                         "limit \"%s\": no amount of %s, which its rules count; ask for %s=N, or "
                         "give the rule a default_amount",
                         limit->name, limit->unit, limit->unit);
    levels->costs[level] = cost;
    capacity = takt_numbers_capacity(&limit->numbers, TAKT_UNIT_TOKENS, &rule);
    if (cost > capacity && limit->mode == TAKT_MODE_ENFORCE && limit->access == TAKT_ACCESS_LIMITED)
        return refuse_cost(limit, cost, rule, capacity, error);
    return 0;
}

int takt_request_costs(const takt_request *request, takt_levels *levels, takt_error *error)
{
    int code = check_amounts(request, levels, error);

    if (code == 0)
        code = check_cost(request, levels, error);
    for (int level = 0; code == 0 && level < levels->count; level++)
        code = set_cost(request, levels, level, error);
    return code;
}

int takt_request_permit(const takt_request *request, takt_levels *levels, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    int code = takt_request_costs(request, levels, error);

    if (code != 0)
        return code;
    for (int level = 0; level < levels->count; level++) {
        const takt_limit *limit = levels->limits[level];
        if (limit->access == TAKT_ACCESS_REFUSED && limit->mode == TAKT_MODE_ENFORCE)
            return takt_fail(error, TAKT_E_COST,
                             "limit \"%s\": the key %s is refused: its override has a rate of 0",
                             limit->name, takt_quote(given_key(request, level), quoted));
    }
    return 0;
}

int takt_check_request(const takt_policy *policy, const takt_request *request, takt_error *error)
{
    takt_levels levels;
    int code;

    if (!policy || !request)
        return takt_fail(error, TAKT_E_INVALID, "policy and request are required");
    code = takt_request_check(policy, NULL, NULL, request, &levels, error);
    return code == 0 ? takt_request_permit(request, &levels, error) : code;
}
