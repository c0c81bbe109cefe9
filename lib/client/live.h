/*
 * live.h: the stored policy as live.c and follow.c share it.
 */
#ifndef TAKT_CLIENT_LIVE_H
#define TAKT_CLIENT_LIVE_H

#include <takt/live.h>

#include "store/store.h"

/* One call about the stored policy, on a store and a loop of its own: waits for the answer. */
int takt_live_talk(takt_op op, takt_policy_exchange *exchange, const takt_policy *place,
                   const takt_options *options, takt_error *error);

/* What a talk has told, which is taken from it.  0 or TAKT_E_NOMEM. */
int takt_live_of(takt_live **live, takt_policy_exchange *exchange);

/* The policy becomes the caller's; NULL: there is none. */
takt_policy *takt_live_take_policy(takt_live *live);

#endif
