/*
 * policy_reply.h: what the scripts answer about the stored policy.  Read strictly, as awards are.
 */
#ifndef TAKT_STORE_REDIS_POLICY_REPLY_H
#define TAKT_STORE_REDIS_POLICY_REPLY_H

#include <stdbool.h>

#include "redis/resp.h"
#include "store/store.h"

/* The answer to a call with a `talk`, whose outputs are filled, and whose status is set.  False: it
 * is no answer to this call. */
bool takt_policy_reply(takt_store_call *call, const takt_reply *reply);

#endif
