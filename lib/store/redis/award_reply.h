/*
 * award_reply.h: reads a script's reply as an award or a standing.
 *
 * A reply is refused as a whole if any number is one that a ledger cannot have; the outputs must
 * then not be used. The server is not trusted.
 */
#ifndef TAKT_STORE_REDIS_AWARD_REPLY_H
#define TAKT_STORE_REDIS_AWARD_REPLY_H

#include <stdbool.h>

#include "redis/resp.h"
#include "store/store.h"

/* Reads the answer to `call`: fills its award or standing, and sets its status to 0 or
 * TAKT_E_NO_SLOT. *damaged: the ledger was unreadable and is fresh now. False: not an answer to
 * this call. */
bool takt_award_reply(takt_store_call *call, const takt_reply *reply, bool *damaged);

#endif
