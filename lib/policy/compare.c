/*
 * What one policy changes of another, limit by limit, in a person's words: two limits differ where
 * their descriptions do, which say all that is not as it would be anyway.
 */
#include <string.h>

#include "policy/policy.h"

#define LINE_SIZE 2048

typedef struct comparison {
    void (*tell)(void *data, const takt_difference *difference);
    void *data;
    size_t count;
} comparison;

/* NULL where the policy has no such limit. */
static const char *describe(const takt_policy *policy, const char *name, char line[LINE_SIZE])
{
    return policy != NULL && takt_policy_describe(policy, name, line, LINE_SIZE) == 0 ? line : NULL;
}

static void compare(comparison *made, const char *name, const char *from, const char *to)
{
    if (from != NULL && to != NULL && strcmp(from, to) == 0)
        return;
    made->count++;
    if (made->tell != NULL)
        made->tell(made->data, &(takt_difference){name, from, to});
}

size_t takt_policy_compare(const takt_policy *from, const takt_policy *to,
                           void (*tell)(void *data, const takt_difference *difference), void *data)
{
    char before[LINE_SIZE], after[LINE_SIZE];
    comparison made = {tell, data, 0};
    for (size_t i = 0; i < to->limit_count; i++) {
        const char *name = to->limits[i]->name;
        compare(&made, name, describe(from, name, before), describe(to, name, after));
    }
    for (size_t i = 0; from != NULL && i < from->limit_count; i++) {
        const char *name = from->limits[i]->name;
        if (takt_policy_find(to, name) == NULL)
            compare(&made, name, describe(from, name, before), NULL);
    }
    return made.count;
}
