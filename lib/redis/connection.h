/*
 * connection.h: a conversation with a server: commands go out in the order in which they are said,
 * and each is answered once, in that order (takt_redis_command of reply.h).
 *
 * Decides when to connect, what to do with an answer that nobody asked for, and when to come back
 * after a loss.  What is said first is greeting.h's affair; what the commands say, and for how long
 * an answer is waited for, is their owner's.
 *
 * It keeps the loop alive only where it must (a name being looked up).
 */
#ifndef TAKT_REDIS_CONNECTION_H
#define TAKT_REDIS_CONNECTION_H

#include <uv.h>

#include "base/list.h"
#include "redis/resp.h"
#include "redis/tls.h"
#include "redis/url.h"

typedef struct takt_redis_connection takt_redis_connection;

/* All called on the loop's thread. */
typedef struct takt_redis_connection_events {
    /* Commands can be sent. */
    void (*ready)(void *data);
    /* The connection was lost, or an attempt to connect failed; commands under way are answered
     * next.  Another attempt will follow.  `text` tells the server and what is wrong. */
    void (*lost)(void *data, int code, const char *text);
    /* An answer while no command is under way; NULL: there must be none. */
    void (*pushed)(void *data, const takt_reply *reply);
    /* After takt_redis_connection_close: nothing of it is left. */
    void (*closed)(void *data);
} takt_redis_connection_events;

/* Begins to connect.  The url and the trust (NULL without TLS) must outlive the connection; `max`
 * (NULL: takt_resp_of_scripts) is read during the call.  NULL: no memory. */
takt_redis_connection *takt_redis_connection_open(uv_loop_t *loop, const takt_redis_url *url,
                                                  takt_tls_trust *trust, const takt_resp_max *max,
                                                  uint64_t timeout_ms,
                                                  const takt_redis_connection_events *events,
                                                  void *data);

bool takt_redis_connection_ready(const takt_redis_connection *connection);

/* The command that is to be answered next; NULL: none is under way. */
takt_redis_command *takt_redis_connection_oldest(const takt_redis_connection *connection);

/* Says a command, when ready; what is said in one turn of the loop goes out in one write.  Without
 * `command` its answers, however many, come as pushed().  False: not ready, or no memory; nothing
 * was said. */
bool takt_redis_connection_send(takt_redis_connection *connection, takt_redis_command *command,
                                int count, const char *const *arguments, const size_t *sizes);

/* Sends what was said, without waiting for the end of the loop's turn. */
void takt_redis_connection_flush(takt_redis_connection *connection);

/* Takes in, without waiting for the loop to say so, what has been answered already. */
void takt_redis_connection_drain(takt_redis_connection *connection);

/* While held, a connection that is away makes no attempt: another one to the same server shows
 * whether an attempt is worthwhile.  Let go, it is made after the pause of backoff.h. */
void takt_redis_connection_hold(takt_redis_connection *connection, bool held);

/* Leaves a connection that is of no use any more (see takt_redis_socket_close about `reset`), as if
 * it had been lost with that code and words.  Nothing where there is none. */
void takt_redis_connection_leave(takt_redis_connection *connection, bool reset, int code,
                                 const char *text);

/* Ends it all: commands under way are answered with TAKT_E_CANCELED, then closed() comes, later. */
void takt_redis_connection_close(takt_redis_connection *connection);

#endif
