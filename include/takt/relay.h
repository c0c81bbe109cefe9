/*
 * takt/relay.h: serves programs whose store is the agent of their host ("agent:" in takt/store.h).
 *
 * An agent is a client of the real store.  Each program has a connection to the agent, and on it
 * sends commands that begin with RELAY; lib/store/agent/message.h has them.  The agent passes them
 * on here, and sends what comes back on the same connection: for the store, the waiters of all
 * programs are those of one client.
 *
 * Threads: all functions belong to the thread of the client's loop.
 */
#ifndef TAKT_RELAY_H
#define TAKT_RELAY_H

#include <stddef.h>

#include <takt/takt.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_relays takt_relays; /* of one client */
typedef struct takt_relay takt_relay;   /* of one connection */

/* Bytes for the connection, in RESP2; valid during the call.  It must not close the relay. */
typedef void (*takt_relay_send)(void *data, const char *bytes, size_t size);

/* `name_space` is the client's: programs of another one are refused.  0 or TAKT_E_NOMEM. */
TAKT_EXPORT int takt_relays_open(takt_relays **relays, takt_client *client, const char *name_space);

/* Returns 1 for an event that concerns a permit of a program alone, which is told: the agent calls
 * it first in its on_event. */
TAKT_EXPORT int takt_relays_event(takt_relays *relays, const takt_event *event);

/* The permits that programs hold; NULL is harmless. */
TAKT_EXPORT size_t takt_relays_held(const takt_relays *relays);

/* Closes all relays; what they share is freed when the loop runs next.  Call it before takt_close.
 * NULL is harmless. */
TAKT_EXPORT void takt_relays_close(takt_relays *relays);

/* 0 or TAKT_E_NOMEM.  `send` is called later, with `data`. */
TAKT_EXPORT int takt_relay_open(takt_relay **relay, takt_relays *relays, takt_relay_send send,
                                void *data);

/* Handles a command: its words, of which the first is RELAY, each with its size (they may end
 * without NUL).  0, or TAKT_E_INVALID, and `error` says why: answer with it, and close the
 * connection. */
TAKT_EXPORT int takt_relay_command(takt_relay *relay, int count, const char *const *words,
                                   const size_t *sizes, takt_error *error);

/* The connection has ended: its waiters leave, and what it holds is free.  NULL is harmless. */
TAKT_EXPORT void takt_relay_close(takt_relay *relay);

#ifdef __cplusplus
}
#endif
#endif
