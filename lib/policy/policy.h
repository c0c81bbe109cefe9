/*
 * policy.h: a policy inside the library. policy.c builds it from texts, load.c from YAML;
 * nesting.c checks it, queries.c tells about its limits.
 */
#ifndef TAKT_POLICY_POLICY_H
#define TAKT_POLICY_POLICY_H

#include <takt/policy.h>

#include "core/limit.h"

struct takt_policy {
    takt_limit **limits; /* each limit has its own allocation: pointers stay valid */
    size_t limit_count;
    size_t limit_capacity;
    char **within;   /* the name in each limit's `within`, or NULL; takt_policy_check resolves it to
                        limit->within */
    uint32_t *slots; /* limits by name: a hash table of index + 1, 0 where empty */
    size_t slot_count; /* a power of two, at least twice limit_capacity */
    char *store;       /* NULL: not given */
    char *name_space;  /* NULL: not given */
    int64_t revision;  /* the revision of all limits */
    bool has_revision; /* the policy has `revision` */
    bool follows;      /* the limits are in the store */
    int64_t version;   /* version of a stored policy; 0: not stored */
    char *text;        /* the source text with a NUL; NULL: built in code */
    size_t text_size;
    struct takt_policy *older; /* the policy that the client had before */
};

/* The limit with a name. NULL: there is none. The time does not depend on the number of limits. */
const takt_limit *takt_policy_find(const takt_policy *policy, const char *name);

/* The limit or override in this policy that replaces `limit`, which may be of an older policy. The
 * key is in the form of the store. NULL: there is no such limit. The clear text of a hashed key is
 * unknown, so an override is found by its own key or pattern. */
const takt_limit *takt_policy_renewed(const takt_policy *policy, const takt_limit *limit,
                                      const char *key);

/* The position of a limit in the file. The policy has a limit with this name. */
size_t takt_policy_index(const takt_policy *policy, const char *name);

/* Whether another limit is within this one. */
bool takt_policy_has_inner(const takt_policy *policy, const takt_limit *limit);

/* Sets a field of the policy itself. Errors are TAKT_E_POLICY with "store: ...", "namespace: ...".
 */
int takt_policy_set_store(takt_policy *policy, const char *store, takt_error *error);
int takt_policy_set_namespace(takt_policy *policy, const char *name_space, takt_error *error);

/* Sets the revision as a valid number. */
void takt_policy_renumber(takt_policy *policy, int64_t revision);

#endif
