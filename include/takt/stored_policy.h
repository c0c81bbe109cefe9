/*
 * takt/stored_policy.h: the policy in the store, which a whole fleet follows.
 *
 * A store holds one policy per namespace: its text as it was written, its version, and its latest
 * changes.  Clients opened with `policy: store` use it and follow its changes.
 * takt_stored_policy_apply, or `takt apply FILE`, puts one there.
 *
 *     takt_stored_policy *stored;
 *     if (takt_stored_policy_read(&stored, policy, NULL, &error) == 0) {
 *         takt_policy_compare(stored->policy, policy, show, NULL);
 *         takt_stored_policy_apply(stored, policy, NULL, NULL, &version, &error);
 *         takt_stored_policy_free(stored);
 *     }
 *
 * takt_stored_policy_read and takt_stored_policy_apply open a store of their own and block until it
 * answers, at most for store_timeout_us of the options (one second).
 */
#ifndef TAKT_STORED_POLICY_H
#define TAKT_STORED_POLICY_H

#include <takt/takt.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAKT_CHANGES_MAX 20  /* in a history */
#define TAKT_WHO_SIZE    160 /* with the NUL; longer texts are cut */
#define TAKT_WHAT_SIZE   256

typedef struct takt_change {
    int64_t version;  /* the version that it made: 1 and upwards */
    int64_t at_us;    /* by the store's clock */
    int64_t revision; /* of the policy */
    int64_t size;     /* bytes of its text */
    char who[TAKT_WHO_SIZE];
    char what[TAKT_WHAT_SIZE]; /* "mail changed, api added" */
} takt_change;

/* The policy in a store.  Read-only. */
typedef struct takt_stored_policy {
    /* 0: there is no policy, and nothing below is set. */
    int64_t version;
    /* When it was applied. */
    int64_t at_us;
    const char *text;
    size_t size;
    /* The policy; NULL: this takt cannot read it, and `trouble` says why. */
    const takt_policy *policy;
    takt_error trouble;
    /* The newest first. */
    int change_count;
    takt_change changes[TAKT_CHANGES_MAX];
} takt_stored_policy;

/*
 * Reads the policy of the store and namespace in the options, else in `location` (a policy with its
 * `store` and `namespace`; may be NULL), else the defaults, like takt_open.  Free it with
 * takt_stored_policy_free, after the clients with its policy are closed.  A code of the store,
 * TAKT_E_NOMEM or TAKT_E_SYSTEM.
 */
TAKT_EXPORT int takt_stored_policy_read(takt_stored_policy **stored, const takt_policy *location,
                                        const takt_options *options, takt_error *error);
TAKT_EXPORT void takt_stored_policy_free(takt_stored_policy *stored); /* NULL is harmless */

/*
 * Checks whether takt_stored_policy_apply would accept a policy: 0 or TAKT_E_POLICY.  It must come
 * from a file or a text, and not say `policy: store`.  Its `revision`, if given, must be higher
 * than the stored one, because in a ledger the higher one holds; otherwise the next higher number
 * is used.
 */
TAKT_EXPORT int takt_stored_policy_check(const takt_stored_policy *seen, const takt_policy *policy,
                                         takt_error *error);

/*
 * Replaces the policy that was `seen` by this one, in its store and namespace (or those of the
 * options), and notifies its followers.  `who` is for the history; NULL: USER@HOST.  *version is
 * its version there.  If `seen` has the same text, nothing happens.
 *
 * TAKT_E_OVERTAKEN: somebody else has applied another policy meanwhile.  After
 * TAKT_E_STORE_TIMEOUT it may have been applied or not: read it again.
 */
TAKT_EXPORT int takt_stored_policy_apply(const takt_stored_policy *seen, const takt_policy *policy,
                                         const char *who, const takt_options *options,
                                         int64_t *version, takt_error *error);

#ifdef __cplusplus
}
#endif
#endif
