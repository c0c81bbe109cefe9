/*
 * policy_reply.h: reads a script's reply about the stored policy, as strictly as awards.
 */
#ifndef TAKT_STORE_REDIS_POLICY_REPLY_H
#define TAKT_STORE_REDIS_POLICY_REPLY_H

#include <stdbool.h>

#include "redis/resp.h"
#include "store/store.h"

/* Reads the answer to a call with an exchange: fills its outputs and sets its status. False: not an
 * answer to this call. */
bool takt_policy_reply(takt_store_call *call, const takt_reply *reply);

#endif
