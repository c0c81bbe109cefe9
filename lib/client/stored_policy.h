/*
 * stored_policy.h: the parts of stored_policy.c that follow.c uses.
 */
#ifndef TAKT_CLIENT_STORED_POLICY_H
#define TAKT_CLIENT_STORED_POLICY_H

#include <takt/stored_policy.h>

#include "store/store.h"

/* Makes one call about the stored policy, on a store and a loop of its own, and waits for the
 * answer. */
int takt_stored_policy_exchange(takt_op op, takt_policy_exchange *exchange,
                                const takt_policy *location, const takt_options *options,
                                takt_error *error);

/* Reads the result of an exchange and takes its memory over.  Returns 0 or TAKT_E_NOMEM. */
int takt_stored_policy_parse(takt_stored_policy **stored, takt_policy_exchange *exchange);

/* Hands the policy to the caller, who owns it; NULL: there is no policy. */
takt_policy *takt_stored_policy_take(takt_stored_policy *stored);

#endif
