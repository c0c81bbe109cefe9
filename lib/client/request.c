/*
 * request.c: see request.h.
 */
#include "client/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "policy/amounts.h"
#include "policy/overrides.h"
#include "policy/rule_text.h"
#include "policy/unit_text.h"
#include "policy/weights.h"

#define REMEDY_SIZE 48

/* What to change in a rule that gives too few tokens at once. */
static const char *remedy_of(const takt_rule *rule, int64_t cost, char text[REMEDY_SIZE])
{
    if (rule->algorithm->takes & TAKT_TAKES_BURST)
        snprintf(text, REMEDY_SIZE, "give the rule burst: %lld", (long long)cost);
    else
        strcpy(text, rule->algorithm->takes & TAKT_TAKES_QUEUE ? "use an algorithm with a burst"
                                                               : "raise its rate");
    return text;
}

static int refuse_cost(const takt_limit *limit, takt_unit unit, int64_t cost, takt_error *error)
{
    const char *name = takt_unit_name_in(limit, unit);
    int index = 0;
    int64_t capacity = takt_numbers_capacity(&limit->numbers, unit, &index);
    const takt_rule *rule = &limit->numbers.rules[index];
    char described[160] = "", remedy[REMEDY_SIZE];

    takt_rule_describe(rule, name, described, sizeof described);
    return takt_fail(error, TAKT_E_COST,
                     "limit \"%s\": %s%lld%s%s can never be given: rules[%d] (%s) gives at most "
                     "%lld at once; ask for less, or %s",
                     limit->name, name[0] ? "" : "a cost of ", (long long)cost, name[0] ? " " : "",
                     name, index, described, (long long)capacity, remedy_of(rule, cost, remedy));
}

static const char *given_key(const takt_request *request, int level)
{
    const char *key = level == 0 ? request->key : request->within_keys[level - 1];

    return key ? key : "";
}

/* Refuses a key for a level that has no limit. */
static int refuse_key(const takt_request *request, int at, int around, takt_error *error)
{
    if (around == 0)
        return takt_fail(error, TAKT_E_INVALID,
                         "limit \"%s\": it is within no other limit; leave out --within-key "
                         "(within_keys)",
                         request->limit);
    return takt_fail(error, TAKT_E_INVALID,
                     "limit \"%s\": it is within %d other limit%s, but --within-key (within_keys) "
                     "has a key for outer limit %d; leave that out",
                     request->limit, around, around > 1 ? "s" : "", at + 1);
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

/* For whom the work is on a level: with `fair: key` the key of the limit inside is the tenant. */
static const char *given_tenant(const takt_request *request, const takt_demand *demand, int level)
{
    if (level > 0 && demand->limits[level]->fair == TAKT_FAIR_KEY)
        return given_key(request, level - 1);
    return request->tenant ? request->tenant : "";
}

/* A key may be longer than a tenant's name: its end is replaced by a hash of the whole. */
static void shorten(const char *key, char name[TAKT_TENANT_SIZE_MAX + 1])
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

    name[0] = '\0';
    if (strlen(key) <= TAKT_TENANT_SIZE_MAX)
        return;
    for (const char *at = key; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    snprintf(name, TAKT_TENANT_SIZE_MAX + 1, "%.*s~%016" PRIx64, TAKT_TENANT_SIZE_MAX - 17, key,
             hash);
}

/* The name is checked also if no level has tenants: the policy may change. */
static int check_tenant(const takt_request *request, takt_error *error)
{
    if (request->tenant &&
        strnlen(request->tenant, TAKT_TENANT_SIZE_MAX + 1) > TAKT_TENANT_SIZE_MAX)
        return takt_fail(error, TAKT_E_INVALID,
                         "a tenant of more than %d bytes; use a shorter name, or its hash",
                         TAKT_TENANT_SIZE_MAX);
    return 0;
}

/* Puts the limit that holds for the key of each level in its place. */
static void find_overrides(const takt_request *request, takt_demand *demand)
{
    for (int level = 0; level < demand->count; level++)
        demand->limits[level] =
            takt_overrides_for(demand->limits[level], given_key(request, level));
}

static int hash_keys(const takt_key_secret *secret, const takt_request *request,
                     takt_demand *demand, takt_error *error)
{
    for (int level = 0; level < demand->count; level++) {
        const takt_limit *limit = demand->limits[level];
        demand->hashes[level][0] = demand->tenants[level][0] = '\0';
        if (limit->fair != TAKT_FAIR_WORKER)
            shorten(given_tenant(request, demand, level), demand->tenants[level]);
        if (!limit->key_hash || !secret)
            continue;
        if (takt_key_hash(secret, limit->name, given_key(request, level), demand->hashes[level]) <
            0)
            return takt_fail(error, TAKT_E_NOMEM, "no memory");
        if (limit->fair != TAKT_FAIR_WORKER &&
            takt_key_hash(secret, limit->name, given_tenant(request, demand, level),
                          demand->tenants[level]) < 0)
            return takt_fail(error, TAKT_E_NOMEM, "no memory");
    }
    return 0;
}

const char *takt_request_key(const takt_request *request, const takt_demand *demand, int level)
{
    return demand->hashes[level][0] ? demand->hashes[level] : given_key(request, level);
}

const char *takt_request_tenant_at(const takt_request *request, const takt_demand *demand,
                                   int level, int32_t *weight)
{
    *weight = takt_weights_of(demand->limits[level], given_tenant(request, demand, level));
    return demand->tenants[level][0] ? demand->tenants[level]
                                     : given_tenant(request, demand, level);
}

static int refuse_limit(const takt_policy *policy, const char *name, takt_error *error)
{
    takt_suggestion meant;

    takt_suggest_begin(&meant, name);
    for (size_t i = 0; i < takt_policy_count(policy); i++)
        takt_suggest_offer(&meant, takt_policy_name(policy, i));
    return meant.best
               ? takt_fail(error, TAKT_E_NO_LIMIT,
                           "the policy has no limit \"%.80s\"; did you mean \"%s\"?", name,
                           meant.best)
               : takt_fail(error, TAKT_E_NO_LIMIT, "the policy has no limit \"%.80s\"", name);
}

int takt_request_check(const takt_policy *policy, const takt_limit *hint,
                       const takt_key_secret *secret, const takt_request *request,
                       takt_demand *demand, takt_error *error)
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
        return refuse_limit(policy, request->limit, error);
    for (const takt_limit *at = found; at && count < TAKT_LEVELS_MAX; at = at->within) {
        demand->costs[count] = 0; /* of calls that only look or steer */
        memset(demand->more[count], 0, sizeof demand->more[count]);
        demand->limits[count++] = at;
    }
    demand->count = count;
    code = check_keys(request, count, error);
    if (code == 0)
        code = check_tenant(request, error);
    if (code != 0)
        return code;
    find_overrides(request, demand);
    return hash_keys(secret, request, demand, error);
}

/* ---- amounts --------------------------------------------------------------------------------- */

/* Refuses an amount that the limit can never give. */
static int check_amount(const takt_limit *limit, takt_unit unit, int64_t amount, takt_error *error)
{
    if (amount > takt_numbers_capacity(&limit->numbers, unit, NULL) &&
        limit->mode == TAKT_MODE_ENFORCE && limit->access == TAKT_ACCESS_LIMITED)
        return refuse_cost(limit, unit, amount, error);
    return 0;
}

/* Sets what the request takes of a level. */
static int set_amounts(const takt_request *request, takt_demand *demand, int level,
                       takt_error *error)
{
    const takt_limit *limit = demand->limits[level];
    int32_t cost = request->cost;
    takt_more more;
    int code = limit->unit[0] ? takt_amounts_read(request, limit, &cost, &more, error) : 0;

    demand->costs[level] = cost;
    if (code == 0)
        code = check_amount(limit, TAKT_UNIT_TOKENS, cost, error);
    for (int i = 0; code == 0 && i < TAKT_MORE_MAX && limit->more_units[i][0]; i++) {
        demand->more[level][i] = more.of[i];
        code = check_amount(limit, (takt_unit)(TAKT_UNIT_MORE + i), more.of[i], error);
    }
    return code;
}

int takt_request_costs(const takt_request *request, takt_demand *demand, takt_error *error)
{
    int code = 0;

    if (!takt_amounts_are_plain(request))
        code = takt_amounts_check(request, demand->limits, demand->count, error);
    for (int level = 0; code == 0 && level < demand->count; level++)
        code = set_amounts(request, demand, level, error);
    return code;
}

int takt_request_admit(const takt_request *request, takt_demand *demand, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    int code = takt_request_costs(request, demand, error);

    if (code != 0)
        return code;
    for (int level = 0; level < demand->count; level++) {
        const takt_limit *limit = demand->limits[level];
        if (limit->access == TAKT_ACCESS_REFUSED && limit->mode == TAKT_MODE_ENFORCE)
            return takt_fail(error, TAKT_E_COST,
                             "limit \"%s\": the key %s is refused: its override has a rate of 0",
                             limit->name, takt_quote(given_key(request, level), quoted));
    }
    return 0;
}

int takt_check_request(const takt_policy *policy, const takt_request *request, takt_error *error)
{
    takt_demand demand;
    int code;

    if (!policy || !request)
        return takt_fail(error, TAKT_E_INVALID, "policy and request are required");
    code = takt_request_check(policy, NULL, NULL, request, &demand, error);
    return code == 0 ? takt_request_admit(request, &demand, error) : code;
}
