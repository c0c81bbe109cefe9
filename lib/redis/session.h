/*
 * session.h: one connection to one server, from the attempt to its end: the socket, TLS, the
 * greeting, and then commands and replies (takt_redis_command of reply.h).
 *
 * Decides what to do with an unexpected answer. Its owner decides when to connect and where to:
 * connection.h keeps a session with the server of a URL, sentinel.h one with a Sentinel. A session
 * is used for one server after the other. It keeps the loop alive only during a name lookup.
 */
#ifndef TAKT_REDIS_SESSION_H
#define TAKT_REDIS_SESSION_H

#include <uv.h>

#include "base/list.h"
#include "redis/resp.h"
#include "redis/tls.h"
#include "redis/url.h"

typedef struct takt_redis_session takt_redis_session;

/* All called on the loop's thread. */
typedef struct takt_redis_session_events {
    /* The greeting is over: commands may be sent. */
    void (*ready)(void *data);
    /* The session ended, or could not be made; commands under way fail next. */
    void (*ended)(void *data, int code, const char *text);
    /* After ended(): takt_redis_session_connect may be called again. */
    void (*idle)(void *data);
    /* An answer while no command is under way; NULL: no such answer is expected. */
    void (*pushed)(void *data, const takt_reply *reply);
    /* After takt_redis_session_close: the session is freed. */
    void (*closed)(void *data);
} takt_redis_session_events;

/* An idle session.  The trust (NULL without TLS) and the events must outlive it; `max` (NULL:
 * takt_resp_of_scripts) is read during the call. `timeout_ms` is that of an attempt. NULL: no
 * memory. */
takt_redis_session *takt_redis_session_new(uv_loop_t *loop, takt_tls_trust *trust,
                                           const takt_resp_max *max, uint64_t timeout_ms,
                                           const takt_redis_session_events *events, void *data);

/* Begins to connect an idle session; of a host with several addresses the `attempt`-th is tried
 * first. The url must stay until the session is idle again. 0: ready() or ended() follows; else a
 * code and a message, and the session is still idle. */
int takt_redis_session_connect(takt_redis_session *session, const takt_redis_url *url,
                               unsigned attempt, takt_error *error);

bool takt_redis_session_idle(const takt_redis_session *session);
bool takt_redis_session_ready(const takt_redis_session *session);

/* The present or last connection has had an answer that is no error, after the greeting. */
bool takt_redis_session_works(const takt_redis_session *session);

/* These are as those of connection.h. */
takt_redis_command *takt_redis_session_oldest(const takt_redis_session *session);
bool takt_redis_session_send(takt_redis_session *session, takt_redis_command *command, int count,
                             const char *const *arguments, const size_t *sizes);
void takt_redis_session_flush(takt_redis_session *session);
void takt_redis_session_drain(takt_redis_session *session);
void takt_redis_session_leave(takt_redis_session *session, bool reset, int code, const char *text);
void takt_redis_session_close(takt_redis_session *session);

#endif
