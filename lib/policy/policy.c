/*
 * policy.c: the set of limits. It keeps the limits by order and by name. limit_text.c decides what
 * the texts of a limit mean; load.c reads files and YAML; nesting.c checks every `within`;
 * queries.c answers questions about one limit.
 */
#include "policy/policy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <takt/store.h>

#include "base/fail.h"
#include "base/name.h"
#include "base/quote.h"
#include "base/time_text.h"
#include "policy/answers.h"
#include "policy/limit_text.h"
#include "policy/overrides.h"
#include "policy/weights.h"

#define CAPACITY_FIRST 8
#define REVISION_MAX   (TAKT_EXACT_MAX - 1)

int takt_policy_new(takt_policy **policy, takt_error *error)
{
    if (policy == NULL)
        return takt_fail(error, TAKT_E_INVALID, "takt_policy_new: `policy` is NULL");
    takt_policy *made = calloc(1, sizeof *made);
    if (made == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    *policy = made;
    return 0;
}

void takt_policy_free(takt_policy *policy)
{
    if (policy == NULL)
        return;
    for (size_t i = 0; i < policy->limit_count; i++) {
        takt_overrides_free(policy->limits[i]->overrides);
        takt_answers_free(policy->limits[i]->answers);
        takt_weights_free(policy->limits[i]->weights);
        free(policy->limits[i]);
        free(policy->within[i]);
    }
    free(policy->limits);
    free(policy->within);
    free(policy->slots);
    free(policy->store);
    free(policy->name_space);
    free(policy->text);
    free(policy);
}

/* FNV-1a. The operator chooses the names, so nobody provokes collisions. */
static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/* The slot that has the name, or the empty slot for it. */
static uint32_t *slot_of(const takt_policy *policy, const char *name)
{
    size_t at = hash_of(name) & (policy->slot_count - 1);
    while (policy->slots[at] != 0 && strcmp(policy->limits[policy->slots[at] - 1]->name, name) != 0)
        at = (at + 1) & (policy->slot_count - 1);
    return &policy->slots[at];
}

/* The limit with a name. NULL: there is none. */
static takt_limit *find(const takt_policy *policy, const char *name)
{
    if (policy == NULL || name == NULL || policy->slot_count == 0)
        return NULL;
    uint32_t found = *slot_of(policy, name);
    return found == 0 ? NULL : policy->limits[found - 1];
}

const takt_limit *takt_policy_find(const takt_policy *policy, const char *name)
{
    return find(policy, name);
}

bool takt_policy_has_inner(const takt_policy *policy, const takt_limit *limit)
{
    for (size_t i = 0; i < policy->limit_count; i++)
        if (policy->within[i] != NULL && strcmp(policy->within[i], limit->name) == 0)
            return true;
    return false;
}

size_t takt_policy_index(const takt_policy *policy, const char *name)
{
    return *slot_of(policy, name) - 1;
}

/* Makes room for another limit. After a failure the policy is valid; some arrays may be larger. */
static int grow(takt_policy *policy)
{
    if (policy->limit_count < policy->limit_capacity)
        return 0;
    size_t capacity = policy->limit_capacity > 0 ? policy->limit_capacity * 2 : CAPACITY_FIRST;
    if (capacity > UINT32_MAX / 2)
        return TAKT_E_NOMEM;
    takt_limit **limits = realloc(policy->limits, capacity * sizeof *limits);
    if (limits == NULL)
        return TAKT_E_NOMEM;
    policy->limits = limits;
    char **within = realloc(policy->within, capacity * sizeof *within);
    if (within == NULL)
        return TAKT_E_NOMEM;
    policy->within = within;
    uint32_t *slots = calloc(capacity * 2, sizeof *slots);
    if (slots == NULL)
        return TAKT_E_NOMEM;
    free(policy->slots);
    policy->slots = slots;
    policy->slot_count = capacity * 2;
    policy->limit_capacity = capacity;
    for (size_t i = 0; i < policy->limit_count; i++)
        *slot_of(policy, policy->limits[i]->name) = (uint32_t)(i + 1);
    return 0;
}

static void renumber(takt_limit *limit, int64_t revision)
{
    takt_limit *override;

    limit->numbers.revision = revision;
    for (size_t i = 0; (override = takt_overrides_at(limit, i)); i++)
        override->numbers.revision = revision;
}

static int check_within(const char *within, takt_error *error)
{
    if (within == NULL || takt_name_check(within, error) == 0)
        return 0;
    takt_fail_prefix(error, "within: ");
    if (error != NULL)
        error->code = TAKT_E_POLICY;
    return TAKT_E_POLICY;
}

int takt_policy_add(takt_policy *policy, const takt_limit_text *text, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    takt_limit read;
    if (policy == NULL || text == NULL)
        return takt_fail(error, TAKT_E_INVALID, "no policy or no limit given");
    if (policy->follows)
        return takt_fail(
            error, TAKT_E_POLICY,
            "name: this policy's limits are in the store; add this one there with `takt apply`");
    int code = takt_limit_read(text, &read, error);
    if (code == 0)
        code = check_within(text->within, error);
    if (code != 0)
        return code;
    const takt_limit *namesake = find(policy, read.name);
    if (namesake != NULL)
        return takt_fail(error, TAKT_E_POLICY,
                         "name: %s is already the name of limits[%zu]; write another",
                         takt_quote(read.name, quoted), takt_policy_index(policy, namesake->name));

    takt_limit *limit = malloc(sizeof *limit);
    char *within = text->within != NULL ? strdup(text->within) : NULL;
    if (limit == NULL || (text->within != NULL && within == NULL) || grow(policy) != 0)
        code = takt_fail(error, TAKT_E_NOMEM, "no memory");
    if (code == 0) {
        *limit = read;
        code = takt_answers_read(text, limit, error);
        if (code == 0)
            code = takt_weights_read(text, limit, error);
        if (code == 0)
            code = takt_overrides_read(text, limit, error);
        if (code != 0) {
            takt_answers_free(limit->answers);
            takt_weights_free(limit->weights);
        }
    }
    if (code != 0) {
        free(limit);
        free(within);
        return code;
    }
    renumber(limit, policy->revision);
    policy->limits[policy->limit_count] = limit;
    policy->within[policy->limit_count] = within;
    policy->limit_count++;
    *slot_of(policy, limit->name) = (uint32_t)policy->limit_count;
    return 0;
}

/* Replaces an owned text by a copy of `text`. */
static int set_text(char **owned, const char *text, takt_error *error)
{
    char *copy = strdup(text);
    if (copy == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    free(*owned);
    *owned = copy;
    return 0;
}

int takt_policy_set_store(takt_policy *policy, const char *store, takt_error *error)
{
    if (takt_store_check_url(store, error) == 0)
        return set_text(&policy->store, store, error);
    takt_fail_prefix(error, "store: ");
    if (error != NULL)
        error->code = TAKT_E_POLICY;
    return TAKT_E_POLICY;
}

int takt_policy_set_namespace(takt_policy *policy, const char *name_space, takt_error *error)
{
    if (takt_name_space_check(name_space, error) == 0)
        return set_text(&policy->name_space, name_space, error);
    takt_fail_prefix(error, "namespace: ");
    if (error != NULL)
        error->code = TAKT_E_POLICY;
    return TAKT_E_POLICY;
}

int takt_policy_set_revision(takt_policy *policy, const char *revision, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    int64_t read;
    if (policy == NULL || revision == NULL)
        return takt_fail(error, TAKT_E_INVALID, "no policy or no revision given");
    if (takt_parse_whole(revision, REVISION_MAX, &read) != 0)
        return takt_fail(error, TAKT_E_POLICY,
                         "revision: %s: write a whole number from 0 to %" PRId64,
                         takt_quote(revision, quoted), REVISION_MAX);
    takt_policy_renumber(policy, read);
    policy->has_revision = true;
    return 0;
}

void takt_policy_renumber(takt_policy *policy, int64_t revision)
{
    policy->revision = revision;
    for (size_t i = 0; i < policy->limit_count; i++)
        renumber(policy->limits[i], revision);
}

int takt_policy_follow(takt_policy *policy, takt_error *error)
{
    if (policy == NULL)
        return takt_fail(error, TAKT_E_INVALID, "no policy given");
    if (policy->limit_count > 0 || policy->has_revision)
        return takt_fail(
            error, TAKT_E_POLICY,
            "policy: the store has the limits and the revision; remove yours and use `takt apply`");
    policy->follows = true;
    return 0;
}

int takt_policy_follows(const takt_policy *policy)
{
    return policy->follows;
}

const char *takt_policy_text(const takt_policy *policy, size_t *size)
{
    *size = policy->text_size;
    return policy->text;
}

int64_t takt_policy_version(const takt_policy *policy)
{
    return policy->version;
}

int64_t takt_policy_revision(const takt_policy *policy)
{
    return policy->revision;
}

const char *takt_policy_store(const takt_policy *policy)
{
    return policy->store;
}

const char *takt_policy_namespace(const takt_policy *policy)
{
    return policy->name_space != NULL ? policy->name_space : "default";
}

size_t takt_policy_count(const takt_policy *policy)
{
    return policy->limit_count;
}

const char *takt_policy_name(const takt_policy *policy, size_t index)
{
    return index < policy->limit_count ? policy->limits[index]->name : NULL;
}

int takt_policy_has(const takt_policy *policy, const char *limit)
{
    return find(policy, limit) != NULL;
}

const takt_limit *takt_policy_renewed(const takt_policy *policy, const takt_limit *limit,
                                      const char *key)
{
    const takt_limit *base = limit->base != NULL ? limit->base : limit;
    const takt_limit *found = find(policy, limit->name), *override;
    if (found == NULL || found == base)
        return found != NULL ? limit : NULL;
    if (!found->key_hash)
        return takt_overrides_for(found, key);
    override = limit != base ? takt_overrides_named(found, takt_overrides_key(limit)) : NULL;
    return override != NULL ? override : found;
}
