/*
 * award_reply.h: what the scripts answer, as an award or a standing.
 *
 * Read strictly: every number is one that a ledger could have said, or the reply is refused as a
 * whole and the outputs are not to be used.  A server is not trusted to be one of ours.
 */
#ifndef TAKT_STORE_REDIS_AWARD_REPLY_H
#define TAKT_STORE_REDIS_AWARD_REPLY_H

#include <stdbool.h>

#include "redis/resp.h"
#include "store/store.h"

/* The answer to `call`, whose award or standing is filled, and whose status is set to 0 or
 * TAKT_E_NO_SLOT.  *damaged: the ledger had to be begun anew.  False: it is no answer to this
 * call. */
bool takt_award_reply(takt_store_call *call, const takt_reply *reply, bool *damaged);

#endif
