/*
 * connection.h: a connection to the server of a URL: commands are sent in order, and each is
 * answered once, in that order (takt_redis_command of reply.h).
 *
 * Decides when to connect, and when to reconnect after a loss. If the URL names Sentinels, the
 * connection follows the primary that they name: it asks them before each attempt, and leaves a
 * server when they name another one. There are at most two attempts in a second then, those to
 * Sentinels included. session.h has the conversation with a server. The owner decides about the
 * commands and their time-outs.
 *
 * A connection keeps the loop alive only during a name lookup.
 */
#ifndef TAKT_REDIS_CONNECTION_H
#define TAKT_REDIS_CONNECTION_H

#include <uv.h>

#include "redis/resp.h"
#include "redis/tls.h"
#include "redis/url.h"

typedef struct takt_redis_connection takt_redis_connection;

/* All called on the loop's thread. */
typedef struct takt_redis_connection_events {
    /* The connection is ready for commands. */
    void (*ready)(void *data);
    /* The connection was lost, or an attempt to connect failed; commands under way fail next.
     * Another attempt follows. `text` names the server and the reason. */
    void (*lost)(void *data, int code, const char *text);
    /* An answer while no command is under way; NULL: no such answer is expected. */
    void (*pushed)(void *data, const takt_reply *reply);
    /* After takt_redis_connection_close: the connection is freed. */
    void (*closed)(void *data);
} takt_redis_connection_events;

/* Begins to connect.  The url and the trust (NULL without TLS) must outlive the connection; `max`
 * (NULL: takt_resp_of_scripts) is read during the call.  NULL: no memory. */
takt_redis_connection *takt_redis_connection_open(uv_loop_t *loop, const takt_redis_url *url,
                                                  takt_tls_trust *trust, const takt_resp_max *max,
                                                  uint64_t timeout_ms,
                                                  const takt_redis_connection_events *events,
                                                  void *data);

/* Begins to connect to the server of another connection, wherever that is, within the same pace of
 * attempts and with the same time-out. Close it no later than the other one. NULL: no memory. */
takt_redis_connection *takt_redis_connection_open_beside(takt_redis_connection *other,
                                                         const takt_resp_max *max,
                                                         const takt_redis_connection_events *events,
                                                         void *data);

/* The server: the URL that was given, or one whose host and port Sentinels have named. Valid until
 * the connection is closed; it changes when they name another server. */
const takt_redis_url *takt_redis_connection_server(const takt_redis_connection *connection);

bool takt_redis_connection_ready(const takt_redis_connection *connection);

/* The command that is answered next; NULL: none under way. */
takt_redis_command *takt_redis_connection_oldest(const takt_redis_connection *connection);

/* Sends a command on a ready connection; commands of one turn of the loop go out in one write.
 * Without `command` its answers come as pushed(). False: not ready, or no memory; nothing was
 * sent. */
bool takt_redis_connection_send(takt_redis_connection *connection, takt_redis_command *command,
                                int count, const char *const *arguments, const size_t *sizes);

/* Writes now, without waiting for the end of the loop's turn. */
void takt_redis_connection_flush(takt_redis_connection *connection);

/* Reads answers that have arrived, without waiting for the loop. */
void takt_redis_connection_drain(takt_redis_connection *connection);

/* While held, a lost connection makes no attempt to connect: another connection to the same
 * server shows whether an attempt is worthwhile. When released, it connects after the pause of
 * backoff.h, and leaves a server that is not the present one. */
void takt_redis_connection_hold(takt_redis_connection *connection, bool held);

/* Closes an unusable connection (see takt_redis_socket_close about `reset`) as if it had been lost
 * with that code and text. Harmless without a connection. */
void takt_redis_connection_leave(takt_redis_connection *connection, bool reset, int code,
                                 const char *text);

/* Closes everything: commands under way fail with TAKT_E_CANCELED; closed() follows later. */
void takt_redis_connection_close(takt_redis_connection *connection);

#endif
