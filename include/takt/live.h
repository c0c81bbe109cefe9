/*
 * takt/live.h: the policy in the store, which a whole fleet follows.
 *
 * A store holds one policy per namespace: its text as it was written, its version, and its latest
 * changes.  Clients opened with `policy: store` use it and follow its changes.  takt_live_apply, or
 * `takt apply FILE`, puts one there.
 *
 *     takt_live *live;
 *     if (takt_live_read(&live, policy, NULL, &error) == 0) {
 *         takt_policy_compare(live->policy, policy, show, NULL);
 *         takt_live_apply(live, policy, NULL, NULL, &version, &error);
 *         takt_live_free(live);
 *     }
 *
 * takt_live_read and takt_live_apply open a store of their own and block until it answers, at most
 * for store_timeout_us of the options (one second).
 */
#ifndef TAKT_LIVE_H
#define TAKT_LIVE_H

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
typedef struct takt_live {
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
} takt_live;

/*
 * Reads the policy of the store and namespace in the options, else in `location` (a policy with its
 * `store` and `namespace`; may be NULL), else the defaults, like takt_open.  Free it with
 * takt_live_free, after the clients with its policy are closed.  A code of the store, TAKT_E_NOMEM
 * or TAKT_E_SYSTEM.
 */
TAKT_EXPORT int takt_live_read(takt_live **live, const takt_policy *location,
                               const takt_options *options, takt_error *error);
TAKT_EXPORT void takt_live_free(takt_live *live); /* NULL is harmless */

/*
 * Checks whether takt_live_apply would accept a policy: 0 or TAKT_E_POLICY.  It must come from a
 * file or a text, and not say `policy: store`.  Its `revision`, if given, must be higher than the
 * stored one, because in a ledger the higher one holds; otherwise the next higher number is used.
 */
TAKT_EXPORT int takt_live_check(const takt_live *seen, const takt_policy *policy,
                                takt_error *error);

/*
 * Replaces the policy that was `seen` by this one, in its store and namespace (or those of the
 * options), and notifies its followers.  `who` is for the history; NULL: USER@HOST.  *version is
 * its version there.  If `seen` has the same text, nothing happens.
 *
 * TAKT_E_OVERTAKEN: somebody else has applied another policy meanwhile.  After
 * TAKT_E_STORE_TIMEOUT it may have been applied or not: read it again.
 */
TAKT_EXPORT int takt_live_apply(const takt_live *seen, const takt_policy *policy, const char *who,
                                const takt_options *options, int64_t *version, takt_error *error);

#ifdef __cplusplus
}
#endif
#endif
