/*
 * batch.h: claims of nested work run in one script.
 *
 * A worker with many inner keys has many claims at once.  Those of one turn of the loop, and those
 * that come while others are under way, go to the server together, up to TAKT_BATCH_MAX
 * (core/ledger.h: the scheduler uses it, too).  A full batch waits for those under way for some
 * milliseconds only: otherwise a distant server would answer one batch in each round trip.  Each
 * claim is decided by itself, as if they came one after the other (lua/claims.lua), and is answered
 * by itself.  If the server does not have the script, they are sent alone.  Awards that wait for
 * replicas are not batched.
 */
#ifndef TAKT_STORE_REDIS_BATCH_H
#define TAKT_STORE_REDIS_BATCH_H

#include <uv.h>

#include "store/redis/script_call.h"
#include "store/store.h"

typedef struct takt_redis_job takt_redis_job;     /* redis.h */
typedef struct takt_redis_store takt_redis_store; /* redis.h */

/* Of a store. */
typedef struct takt_redis_batch {
    takt_link gathered; /* takt_redis_job.pause.link, of claims to be sent */
    uv_timer_t timer;   /* active while they are to be sent soon */
    int under_way;      /* batches that are not answered yet */
    uint64_t sent_ms;   /* when the last one was sent */
} takt_redis_batch;

void takt_redis_batch_open(takt_redis_store *store);

/* Takes a job, and sends it at the loop's next turn or with others after those under way.  False:
 * it is not for a batch. */
bool takt_redis_batch_take(takt_redis_job *job);

/* Closes the handle; no job is gathered. */
void takt_redis_batch_close(takt_redis_store *store, uv_close_cb closed);

#endif
