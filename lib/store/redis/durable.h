/*
 * durable.h: awards that count only when replicas have them (?replicas=N).
 *
 * Decides when WAIT is sent, and what its answer means for the calls before it. One WAIT follows
 * the claims and tries of a turn of the loop, in the same write. Those of later turns are not sent
 * until it is answered, and share the next one. If too few replicas acknowledge in time, none of
 * these awards is used: their tokens are lost. Then the next claims are not sent until a WAIT alone
 * has shown that the replicas are there again. So an absent replica costs the awards of one turn,
 * not a quota, and one WAIT at a time keeps other calls of the connection waiting.
 */
#ifndef TAKT_STORE_REDIS_DURABLE_H
#define TAKT_STORE_REDIS_DURABLE_H

#include <uv.h>

#include "redis/connection.h"

typedef struct takt_durable takt_durable;
typedef struct takt_redis_job takt_redis_job; /* store/redis/redis.h */

/* What becomes of a job, on the loop's thread. */
typedef struct takt_durable_events {
    void (*send)(takt_redis_job *job);     /* it was held back, and can be sent now */
    void (*conclude)(takt_redis_job *job); /* its answer counts */
    /* Its answer does not count, or it was not sent. `text` (NULL: the connection was lost) and
     * `word`, an error's or "", say why. */
    void (*fail)(takt_redis_job *job, int code, const char *text, const char *word);
} takt_durable_events;

/* NULL: no memory. */
takt_durable *takt_durable_open(uv_loop_t *loop, int replicas, int timeout_ms,
                                const takt_durable_events *events);

/* It is for the calls of this connection, before the first one. */
void takt_durable_use(takt_durable *durable, takt_redis_connection *connection);

/* A WAIT is unanswered, or replicas have been missing: takes a job that is about to be sent, and
 * sends or fails it later. Sets job->sent: it waits for an answer of the server. False: it can be
 * sent. */
bool takt_durable_holds_back(takt_durable *durable, takt_redis_job *job);

/* A job was sent: its answer counts when the WAIT behind it is answered. */
void takt_durable_follow(takt_durable *durable, takt_redis_job *job);

/* After the connection's end, which has answered all commands. closed() follows later; NULL: not
 * wanted. */
void takt_durable_close(takt_durable *durable, void (*closed)(void *data), void *data);

#endif
