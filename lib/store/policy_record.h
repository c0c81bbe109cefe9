/*
 * policy_record.h: the stored policy of a namespace, in memory and file stores.
 *
 * One record, beside the ledgers and under a name that no ledger has; it does not expire:
 *
 *     p1 7 1763692800123456
 *     7\t1763692800123456\t3\t412\tann@host\tmail changed
 *     6\t...
 *
 *     limits: ...
 *
 * The first line has the version and time of the last change. The last changes follow, newest
 * first, each with its version, time, revision, size, author and message; then an empty line and
 * the text. The store does not interpret the text.
 */
#ifndef TAKT_STORE_POLICY_RECORD_H
#define TAKT_STORE_POLICY_RECORD_H

#include "store/record.h"

#define TAKT_CHANGES_KEPT 20

/* Sets up a call about the stored policy, except `done` and `data`. */
void takt_policy_call(takt_store_call *call, takt_op op, takt_policy_exchange *exchange);

/* Runs such a call, as takt_record_run runs a call on a ledger. */
void takt_policy_record_run(takt_record_scratch *scratch, const char *text, size_t size,
                            int64_t now_us, takt_store_call *call, takt_record_change *change);

/* Copies an exchange; the copy is freed by takt_policy_exchange_free. NULL: no memory. */
takt_policy_exchange *takt_policy_exchange_copy(const takt_policy_exchange *exchange);
void takt_policy_exchange_free(takt_policy_exchange *exchange); /* NULL is harmless */

#endif
