/*
 * nesting.c: the check of a policy as a whole. It resolves the name in each `within` to its limit
 * and refuses unknown names, circles, and too many levels or units; answers.c checks what each
 * limit learns.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "policy/answers.h"
#include "policy/overrides.h"
#include "policy/policy.h"
#include "policy/weights.h"

static int refuse_dangling(const takt_policy *policy, size_t index, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    takt_suggestion suggestion;
    takt_suggest_begin(&suggestion, policy->within[index]);
    for (size_t i = 0; i < policy->limit_count; i++)
        if (i != index)
            takt_suggest_offer(&suggestion, policy->limits[i]->name);
    takt_quote(policy->within[index], quoted);
    if (suggestion.best != NULL)
        return takt_fail(error, TAKT_E_POLICY,
                         "limits[%zu].within: there is no limit %s; did you mean \"%s\"?", index,
                         quoted, suggestion.best);
    return takt_fail(error, TAKT_E_POLICY,
                     "limits[%zu].within: there is no limit %s; write the name of another limit",
                     index, quoted);
}

/* Names the circle that `member` is part of, at its member that comes first in the policy. */
static int refuse_circle(const takt_policy *policy, const takt_limit *member, takt_error *error)
{
    char circle[256];
    size_t first = takt_policy_index(policy, member->name), used = 0;
    for (const takt_limit *at = member->within; at != member; at = at->within)
        if (takt_policy_index(policy, at->name) < first)
            first = takt_policy_index(policy, at->name);
    const takt_limit *begin = policy->limits[first], *at = begin;
    do {
        int length = snprintf(circle + used, sizeof circle - used, "%s -> ", at->name);
        used += (size_t)length;
        at = at->within;
    } while (at != begin && used + 2 * sizeof at->name < sizeof circle);
    return takt_fail(error, TAKT_E_POLICY,
                     "limits[%zu].within: forms a circle (%s%s%s); remove within from one of them",
                     first, circle, at == begin ? "" : "... -> ", begin->name);
}

/* Refuses circles of `within`. Each limit is visited once: a walk ends at a limit of an earlier
 * walk. A walk that returns to its own limit has found a circle. */
static int refuse_circles(const takt_policy *policy, takt_error *error)
{
    uint32_t *visited = calloc(policy->limit_count + 1, sizeof *visited);
    int code = 0;
    if (visited == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    for (size_t i = 0; code == 0 && i < policy->limit_count; i++) {
        uint32_t walk = (uint32_t)(i + 1);
        const takt_limit *at = policy->limits[i];
        while (at != NULL && visited[takt_policy_index(policy, at->name)] == 0) {
            visited[takt_policy_index(policy, at->name)] = walk;
            at = at->within;
        }
        if (at != NULL && visited[takt_policy_index(policy, at->name)] == walk)
            code = refuse_circle(policy, at, error);
    }
    free(visited);
    return code;
}

/* Refuses too many nested limits: a permit has space for a fixed number of them. */
static int refuse_depth(const takt_policy *policy, takt_error *error)
{
    for (size_t i = 0; i < policy->limit_count; i++) {
        int levels = 1;
        for (const takt_limit *at = policy->limits[i]->within; at != NULL; at = at->within)
            if (++levels > TAKT_LEVELS_MAX)
                return takt_fail(
                    error, TAKT_E_POLICY,
                    "limits[%zu].within: leads through more than %d limits; nest fewer", i,
                    TAKT_LEVELS_MAX);
    }
    return 0;
}

/* The units that limits count, and what a request takes of each that states none; 0: it has to. */
typedef struct units {
    const char *names[TAKT_AMOUNTS_MAX];
    int32_t usual[TAKT_AMOUNTS_MAX];
    int count;
} units;

static bool counts(const takt_limit *limit, int amount)
{
    for (int i = 0; i < limit->numbers.rule_count; i++)
        if ((int)limit->numbers.rules[i].unit == takt_unit_at(amount))
            return true;
    return false;
}

/* A unit of which requests take different amounts is two units. */
static bool note_unit(units *seen, const char *name, int32_t usual)
{
    for (int i = 0; i < seen->count; i++)
        if (strcmp(seen->names[i], name) == 0 &&
            (seen->usual[i] == usual || seen->usual[i] == 0 || usual == 0)) {
            if (usual > 0)
                seen->usual[i] = usual;
            return true;
        }
    if (seen->count == TAKT_AMOUNTS_MAX)
        return false;
    seen->names[seen->count] = name;
    seen->usual[seen->count++] = usual;
    return true;
}

/* Notes the units of a limit among those of the limits inside it.  Returns one that has no space;
 * NULL: there is none. */
static const char *note_units(const takt_limit *limit, units *seen)
{
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        const char *name = i == 0 ? limit->unit : limit->more_units[i - 1];
        int32_t usual = i == 0 ? limit->default_amount : limit->more_defaults.of[i - 1];
        if (counts(limit, i) && !note_unit(seen, name, usual))
            return name;
    }
    return NULL;
}

/* As above, of a limit and its overrides: work may have a key of any of them. */
static const char *note_all_units(const takt_limit *limit, units *seen)
{
    const char *unit = note_units(limit, seen);
    const takt_limit *override;

    for (size_t i = 0; unit == NULL && (override = takt_overrides_at(limit, i)); i++)
        unit = note_units(override, seen);
    return unit;
}

/* Refuses more units than work can state amounts of. */
static int refuse_units(const takt_policy *policy, takt_error *error)
{
    for (size_t i = 0; i < policy->limit_count; i++) {
        units seen = {.count = 0};
        const char *unit = NULL;
        if (policy->limits[i]->within == NULL)
            continue;
        for (const takt_limit *at = policy->limits[i]; at != NULL && unit == NULL; at = at->within)
            unit = note_all_units(at, &seen);
        if (unit != NULL)
            return takt_fail(
                error, TAKT_E_POLICY,
                "limits[%zu].within: this limit, those around it and their overrides count more "
                "than %d units, and %s%s is one too many (a unit with two values of default_amount "
                "counts twice); count it in a limit that is not within these",
                i, TAKT_AMOUNTS_MAX, unit[0] ? "" : "the cost", unit);
    }
    return 0;
}

static bool has_tenants(const takt_limit *limit)
{
    return limit->fair != TAKT_FAIR_WORKER;
}

/* Refuses tenants of a limit between others if a limit around it has none.  That one may become the
 * outermost of those that are decided together: the others may be in another mode, or unlimited for
 * a key. */
static int refuse_tenants_between(const takt_policy *policy, const takt_limit *limit,
                                  takt_error *error)
{
    const takt_limit *around = limit->within;

    while (around != NULL && has_tenants(around))
        around = around->within;
    return around == NULL
               ? 0
               : takt_fail(error, TAKT_E_POLICY,
                           "limits[%zu].fair: this limit is between others; give fair to each "
                           "limit around it, \"%s\" too, or to the innermost one instead",
                           takt_policy_index(policy, limit->name), around->name);
}

/* Refuses tenants that a claim, which states one with one weight, cannot state for a limit and for
 * the outermost one of its chain. */
static int refuse_tenants_of(const takt_policy *policy, const takt_limit *limit,
                             const takt_limit *outermost, takt_error *error)
{
    size_t index = takt_policy_index(policy, limit->name);

    if (!has_tenants(outermost))
        return 0;
    if (outermost->fair == TAKT_FAIR_KEY || limit->fair == TAKT_FAIR_KEY)
        return takt_fail(error, TAKT_E_POLICY,
                         "limits[%zu].fair: the limit \"%s\", which it is within, has fair too; "
                         "write fair: tenant in both, or remove it from one",
                         index, outermost->name);
    if (!takt_weights_same(limit, outermost))
        return takt_fail(error, TAKT_E_POLICY,
                         "limits[%zu].weights: differ from those of \"%s\", which it is within; "
                         "write the same weights and default_weight in both, or remove fair from "
                         "one",
                         index, outermost->name);
    if (limit->key_hash != outermost->key_hash)
        return takt_fail(error, TAKT_E_POLICY,
                         "limits[%zu].key_hash: differs from that of \"%s\", which it is within "
                         "and which has fair too; write the same in both, or remove fair from one",
                         index, outermost->name);
    return 0;
}

/* Refuses tenants on several levels that do not agree. */
static int refuse_tenants(const takt_policy *policy, takt_error *error)
{
    for (size_t i = 0; i < policy->limit_count; i++) {
        const takt_limit *inmost = policy->limits[i], *outermost = inmost;
        while (outermost->within != NULL)
            outermost = outermost->within;
        for (const takt_limit *at = inmost; at != outermost; at = at->within) {
            int code = 0;
            if (has_tenants(at) && at != inmost)
                code = refuse_tenants_between(policy, at, error);
            if (has_tenants(at) && code == 0)
                code = refuse_tenants_of(policy, at, outermost, error);
            if (code != 0)
                return code;
        }
    }
    return 0;
}

/* Sets `within` of a limit and its overrides. Only a change is written, because other threads may
 * read a policy that was checked before. */
static void set_within(takt_limit *limit, const takt_limit *outer)
{
    takt_limit *override;

    limit->within = outer;
    for (size_t i = 0; (override = takt_overrides_at(limit, i)); i++)
        override->within = outer;
}

static int check_answers(const takt_policy *policy, takt_error *error)
{
    for (size_t i = 0; i < policy->limit_count; i++) {
        int code = takt_answers_check(policy->limits[i], error);
        if (code == 0)
            continue;
        takt_fail_prefix(error, "limits[%zu].", i);
        return code;
    }
    return 0;
}

int takt_policy_check(const takt_policy *policy, takt_error *error)
{
    if (policy == NULL)
        return takt_fail(error, TAKT_E_INVALID, "no policy given");
    for (size_t i = 0; i < policy->limit_count; i++) {
        if (policy->within[i] == NULL)
            continue;
        const takt_limit *outer = takt_policy_find(policy, policy->within[i]);
        if (outer == NULL)
            return refuse_dangling(policy, i, error);
        if (policy->limits[i]->within != outer)
            set_within(policy->limits[i], outer);
    }
    int code = refuse_circles(policy, error);
    if (code == 0)
        code = refuse_depth(policy, error);
    if (code == 0)
        code = refuse_units(policy, error);
    if (code == 0)
        code = refuse_tenants(policy, error);
    return code == 0 ? check_answers(policy, error) : code;
}
