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

static int refuse_cost(const takt_limit *limit, const takt_request *request, int index,
                       int64_t capacity, takt_error *error)
{
    const takt_rule *rule = &limit->numbers.rules[index];
    char described[160] = "";

    takt_rule_describe(rule, described, sizeof described);
    return takt_fail(error, TAKT_E_COST,
                     "limit \"%s\": a cost of %d can never be given: rules[%d] (%s) gives at most "
                     "%lld at once; ask for less, or %s",
                     limit->name, (int)request->cost, index, described, (long long)capacity,
                     remedy_of(rule));
}

static const char *given_key(const takt_request *request, int level)
{
    const char *key = level == 0 ? request->key : request->within_keys[level - 1];

    return key ? key : "";
}

/* Refuses a key at a level where there is no limit. */
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

/* Puts the limit that holds for the key of each level in its place, and checks the cost there. */
static int check_costs(const takt_request *request, takt_levels *levels, takt_error *error)
{
    int rule = 0;

    for (int level = 0; level < levels->count; level++) {
        const takt_limit *limit =
            takt_overrides_for(levels->limits[level], given_key(request, level));
        int64_t capacity = takt_numbers_capacity(&limit->numbers, TAKT_UNIT_TOKENS, &rule);
        levels->limits[level] = limit;
        if (request->cost > capacity && limit->mode == TAKT_MODE_ENFORCE &&
            limit->access == TAKT_ACCESS_LIMITED)
            return refuse_cost(limit, request, rule, capacity, error);
    }
    return 0;
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
    if (code == 0)
        code = check_costs(request, levels, error);
    if (code == 0)
        code = hash_keys(secret, request, levels, error);
    return code;
}

int takt_request_permit(const takt_request *request, const takt_levels *levels, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];

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
