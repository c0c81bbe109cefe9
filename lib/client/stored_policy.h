/*
 * stored_policy.h: the stored policy as stored_policy.c and follow.c share it.
 */
#ifndef TAKT_CLIENT_STORED_POLICY_H
#define TAKT_CLIENT_STORED_POLICY_H

#include <takt/live.h>

#include "store/store.h"

/* One call about the stored policy, on a store and a loop of its own: waits for the answer. */
int takt_stored_policy_exchange(takt_op op, takt_policy_exchange *exchange,
                                const takt_policy *place, const takt_options *options,
                                takt_error *error);

/* Reads what an exchange has brought, which is taken from it.  0 or TAKT_E_NOMEM. */
int takt_stored_policy_read(takt_live **live, takt_policy_exchange *exchange);

/* The policy becomes the caller's; NULL: there is none. */
takt_policy *takt_stored_policy_take(takt_live *live);

#endif
