/*
 * takt/live.h: limits that are in the store, for a whole fleet to follow.
 *
 * A store holds one policy per namespace: its text as it was written, its version, and who has
 * changed what lately.  Clients that were opened with a policy that says `policy: store` go by it,
 * and follow when it changes.  Putting one there is takt_live_apply, or `takt apply FILE`.
 *
 *     takt_live *live;
 *     if (takt_live_read(&live, policy, NULL, &error) == 0) {
 *         takt_policy_compare(live->policy, policy, show, NULL);
 *         takt_live_apply(live, policy, NULL, NULL, &version, &error);
 *         takt_live_free(live);
 *     }
 *
 * Both functions open a store of their own and wait for its answer, store_timeout_us of the options
 * at most (one second): they are for programs that may block.
 */
#ifndef TAKT_LIVE_H
#define TAKT_LIVE_H

#include <takt/takt.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAKT_CHANGES_MAX 20  /* that a history tells */
#define TAKT_WHO_SIZE    160 /* with the NUL; a longer text is cut */
#define TAKT_WHAT_SIZE   256

typedef struct takt_change {
    int64_t version;  /* that it made: 1 and upwards */
    int64_t at_us;    /* by the store's clock */
    int64_t revision; /* of the policy */
    int64_t size;     /* bytes of its text */
    char who[TAKT_WHO_SIZE];
    char what[TAKT_WHAT_SIZE]; /* "mail changed, api added" */
} takt_change;

/* What a store holds.  All of it is read-only. */
typedef struct takt_live {
    int64_t version; /* 0: no policy is there, and nothing is set below */
    int64_t at_us;   /* when it came */
    const char *text;
    size_t size;
    const takt_policy *policy; /* the text, read; NULL: this takt cannot read it, and ... */
    takt_error trouble;        /* ... says why */
    int change_count;
    takt_change changes[TAKT_CHANGES_MAX]; /* the newest first */
} takt_live;

/*
 * Reads the policy of the store and the namespace that the options name, else `place` (a policy:
 * its `store` and `namespace`; may be NULL), else the defaults, as takt_open does.  Free it with
 * takt_live_free.  A code of the store's, TAKT_E_NOMEM, TAKT_E_SYSTEM.
 */
TAKT_EXPORT int takt_live_read(takt_live **live, const takt_policy *place,
                               const takt_options *options, takt_error *error);
TAKT_EXPORT void takt_live_free(takt_live *live); /* NULL is harmless */

/*
 * Says why takt_live_apply would refuse: 0 or TAKT_E_POLICY.  The policy must have been read from a
 * file or a text, and not follow one itself.  Of two that differ the higher `revision` holds in a
 * ledger, so one that is given must be higher than the one in the store; where none is given, the
 * next higher number is taken.
 */
TAKT_EXPORT int takt_live_check(const takt_live *seen, const takt_policy *policy,
                                takt_error *error);

/*
 * Puts a policy's text into its store and namespace (or those of the options), in the place of the
 * one that was `seen`, and tells its followers.  `who` is for the history; NULL: USER@HOST.
 * *version is the one it has there.  Where `seen` is this text already, nothing is done.
 * TAKT_E_OVERTAKEN: it is not there any more, somebody else has applied another one meanwhile.
 * After TAKT_E_STORE_TIMEOUT it may have been applied or not: read it again.
 */
TAKT_EXPORT int takt_live_apply(const takt_live *seen, const takt_policy *policy, const char *who,
                                const takt_options *options, int64_t *version, takt_error *error);

#ifdef __cplusplus
}
#endif
#endif
