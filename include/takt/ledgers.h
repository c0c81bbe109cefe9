/*
 * takt/ledgers.h: lists the limits and keys that a store has ledgers of, without a policy.
 *
 *     takt_ledgers *ledgers;
 *     if (takt_ledgers_read(&ledgers, NULL, NULL, 100, &error) == 0) {
 *         for (size_t i = 0; i < ledgers->count; i++)
 *             show(ledgers->all[i].limit, ledgers->all[i].key);
 *         takt_ledgers_free(ledgers);
 *     }
 *
 * A ledger that is back in its unused state is forgotten by its store, so that only limits and keys
 * in use are listed.
 */
#ifndef TAKT_LEDGERS_H
#define TAKT_LEDGERS_H

#include <takt/takt.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAKT_LEDGERS_MAX 10000 /* ledgers that one listing reads */

typedef struct takt_ledger_name {
    const char *limit;
    const char *key; /* NULL: the limit as a whole */
} takt_ledger_name;

/* Read-only. */
typedef struct takt_ledgers {
    /* The busiest first: those with the least left of what they can give at once. */
    const takt_ledger_name *all;
    size_t count;
    /* Others that were found.  There may be more if TAKT_LEDGERS_MAX were read. */
    size_t left_out;
    /* The limits with the rules that their ledgers have, for a client that only looks (takt_peek,
     * takt_watch): their revision is below all others, so that a look changes nothing.  Keys are
     * as the store has them.  `concurrency` is 1000000000 if the ledger does not tell it. */
    const takt_policy *policy;
    /* A node of a cluster that did not answer, and why: its ledgers are missing.  NULL: none. */
    const char *missing;
} takt_ledgers;

/*
 * Lists up to `max` ledgers of the store and namespace in the options, else in `location` (may be
 * NULL), else the defaults, like takt_open.  It opens a store of its own and blocks until it
 * answers, each answer at most for store_timeout_us of the options (one second).  In Redis it scans
 * the first 100,000 keys of the database, which needs the right to SCAN and GET.
 *
 * A code of the store, TAKT_E_NOMEM or TAKT_E_SYSTEM.  Free the list with takt_ledgers_free, after
 * the clients with its policy are closed.
 */
TAKT_EXPORT int takt_ledgers_read(takt_ledgers **ledgers, const takt_policy *location,
                                  const takt_options *options, size_t max, takt_error *error);
TAKT_EXPORT void takt_ledgers_free(takt_ledgers *ledgers); /* NULL is harmless */

#ifdef __cplusplus
}
#endif

#endif
