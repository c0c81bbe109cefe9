/*
 * policy.h: a policy as the library sees it.  Built by policy.c from texts, by load.c from YAML.
 */
#ifndef TAKT_POLICY_POLICY_H
#define TAKT_POLICY_POLICY_H

#include <takt/policy.h>

#include "core/limit.h"

struct takt_policy {
    takt_limit **limits; /* each allocated for itself: pointers to them stay valid */
    size_t limit_count;
    size_t limit_capacity;
    char **within; /* what each limit's `within` names, or NULL; resolved by takt_policy_check into
                      limit->within */
    uint32_t *slots;   /* limits by name: a hash table of index + 1, 0 where empty */
    size_t slot_count; /* a power of two, at least twice limit_capacity */
    char *store;       /* NULL: not given */
    char *name_space;  /* NULL: not given */
    int64_t revision;  /* of every limit */
    bool has_revision; /* it was given */
    bool follows;      /* the limits are in the store */
    int64_t version;   /* of the stored policy that this is; 0: none */
    char *text;        /* what it was read from, with a NUL behind it; NULL: built in code */
    size_t text_size;
    struct takt_policy *older; /* a client's: the one that it has loaded before */
};

/* The limit of that name, or NULL.  Takes the same time however many limits there are. */
const takt_limit *takt_policy_find(const takt_policy *policy, const char *name);

/* What a limit or an override, perhaps of an older policy, is in this one, for a key as the store
 * knows it; NULL: there is no such limit.  The clear key of a hash is not known: an override stays
 * that of its key or pattern. */
const takt_limit *takt_policy_renewed(const takt_policy *policy, const takt_limit *limit,
                                      const char *key);

/* Where a limit that the policy has stands in the order of the file. */
size_t takt_policy_index(const takt_policy *policy, const char *name);

/* Sets what a policy says of itself.  TAKT_E_POLICY with "store: ..." or "namespace: ..." in error.
 */
int takt_policy_set_store(takt_policy *policy, const char *store, takt_error *error);
int takt_policy_set_namespace(takt_policy *policy, const char *name_space, takt_error *error);

/* The same as a number that is one. */
void takt_policy_renumber(takt_policy *policy, int64_t revision);

#endif
