/*
 * compare.c: describes the differences between two policies, limit by limit. Two limits differ if
 * their descriptions differ. A description has all fields that are not at their default
 * (limit_text.c).
 */
#include <stdio.h>
#include <string.h>

#include "base/quote.h"
#include "policy/field.h"
#include "policy/limit_text.h"
#include "policy/overrides.h"
#include "policy/policy.h"

#define LINE_SIZE 8192 /* of a limit with 64 weights */

typedef struct comparison {
    void (*tell)(void *data, const takt_difference *difference);
    void *data;
    size_t count;
} comparison;

/* Describes a limit. NULL: the policy has no such limit. */
static const char *describe(const takt_policy *policy, const char *name, char line[LINE_SIZE])
{
    return policy != NULL && takt_policy_describe(policy, name, line, LINE_SIZE) == 0 ? line : NULL;
}

/* Describes an override, with the position of its pattern, because the position decides which keys
 * match. NULL: there is no such override. */
static const char *describe_override(const takt_limit *override, char line[LINE_SIZE])
{
    if (override == NULL)
        return NULL;
    takt_limit_describe(override, NULL, line, LINE_SIZE);
    if (takt_overrides_rank(override) > 0)
        takt_field_append(line, LINE_SIZE, ", pattern %zu", takt_overrides_rank(override));
    return line;
}

static void compare(comparison *made, const char *name, const char *from, const char *to)
{
    if (from != NULL && to != NULL && strcmp(from, to) == 0)
        return;
    made->count++;
    if (made->tell != NULL)
        made->tell(made->data, &(takt_difference){name, from, to});
}

static void compare_override(comparison *made, const char *limit, const char *key,
                             const takt_limit *from, const takt_limit *to)
{
    char name[TAKT_NAME_SIZE_MAX + TAKT_QUOTE_SIZE + 2], quoted[TAKT_QUOTE_SIZE];
    char before[LINE_SIZE], after[LINE_SIZE];
    takt_quote(key, quoted);
    snprintf(name, sizeof name, "%s:%.*s", limit, (int)strlen(quoted) - 2, quoted + 1);
    compare(made, name, describe_override(from, before), describe_override(to, after));
}

/* Compares the overrides of a limit; `from` or `to` may be NULL. The overrides of a removed limit
 * are not listed. */
static void compare_overrides(comparison *made, const takt_limit *from, const takt_limit *to)
{
    const takt_limit *override;
    for (size_t i = 0; (override = takt_overrides_at(to, i)); i++) {
        const char *key = takt_overrides_key(override);
        compare_override(made, to->name, key, from ? takt_overrides_named(from, key) : NULL,
                         override);
    }
    for (size_t i = 0; from != NULL && (override = takt_overrides_at(from, i)); i++) {
        const char *key = takt_overrides_key(override);
        if (takt_overrides_named(to, key) == NULL)
            compare_override(made, to->name, key, override, NULL);
    }
}

size_t takt_policy_compare(const takt_policy *from, const takt_policy *to,
                           void (*tell)(void *data, const takt_difference *difference), void *data)
{
    char before[LINE_SIZE], after[LINE_SIZE];
    comparison made = {tell, data, 0};
    for (size_t i = 0; i < to->limit_count; i++) {
        const char *name = to->limits[i]->name;
        compare(&made, name, describe(from, name, before), describe(to, name, after));
        compare_overrides(&made, takt_policy_find(from, name), to->limits[i]);
    }
    for (size_t i = 0; from != NULL && i < from->limit_count; i++) {
        const char *name = from->limits[i]->name;
        if (takt_policy_find(to, name) == NULL)
            compare(&made, name, describe(from, name, before), NULL);
    }
    return made.count;
}
