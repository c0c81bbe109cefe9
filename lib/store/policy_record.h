/*
 * policy_record.h: the policy that a store holds for a namespace, as memory and file stores keep
 * it.
 *
 * One record, beside the ledgers and under a name that none of them has; it does not expire:
 *
 *     p1 7 1763692800123456
 *     7\t1763692800123456\t3\t412\tann@host\tmail changed
 *     6\t...
 *
 *     limits: ...
 *
 * version and moment of the last change, the last changes (the newest first, each with its version,
 * moment, revision, size, who and what), an empty line, the text.  What is in the text is nobody's
 * business here.
 */
#ifndef TAKT_STORE_POLICY_RECORD_H
#define TAKT_STORE_POLICY_RECORD_H

#include "store/record.h"

#define TAKT_CHANGES_KEPT 20

/* Sets up a call about the stored policy, except `done` and `data`. */
void takt_policy_call(takt_store_call *call, takt_op op, takt_policy_exchange *exchange);

/* takt_record_run for such a call. */
void takt_policy_record_run(takt_record_scratch *scratch, const char *text, size_t size,
                            int64_t now_us, takt_store_call *call, takt_record_change *change);

/* Copies an exchange into memory of its own, for takt_policy_exchange_free; NULL: no memory. */
takt_policy_exchange *takt_policy_exchange_copy(const takt_policy_exchange *exchange);
void takt_policy_exchange_free(takt_policy_exchange *exchange); /* NULL is harmless */

#endif
