/*
 * takt/relay.h: serves programs whose store is the agent of their host ("agent:" in takt/store.h).
 *
 * An agent is a client of the real store.  Each program connects to the agent and sends commands
 * that begin with RELAY (lib/store/agent/message.h).  The agent passes them to takt_relay_command,
 * and sends the bytes that takt_relay_send gets on the same connection.  To the store, all programs
 * are one client.
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

typedef struct takt_relays takt_relays;   /* of one client */
typedef struct takt_relay takt_relay;     /* of one connection */
typedef struct takt_process takt_process; /* that waits for a request */

/* Sends bytes (RESP2, valid during the call) on the connection.  NULL: there is no memory for a
 * message that the program needs; end the connection soon.  It must not close the relay. */
typedef void (*takt_relay_send)(void *data, const char *bytes, size_t size);

/* Makes the relays of a client.  `name_space` is the client's: programs with another namespace are
 * refused.  0 or TAKT_E_NOMEM. */
TAKT_EXPORT int takt_relays_open(takt_relays **relays, takt_client *client, const char *name_space);

/* Call it first in the client's on_event.  Returns 1 if the event concerns only the permit of a
 * program; the program then gets the event. */
TAKT_EXPORT int takt_relays_event(takt_relays *relays, const takt_event *event);

/* Returns the number of permits that programs hold.  NULL is harmless. */
TAKT_EXPORT size_t takt_relays_held(const takt_relays *relays);

/* Called for a limit and key ("": none) for which programs wait, maybe more than once. */
typedef void (*takt_relays_visit)(void *data, const char *limit, const char *key);

/* Returns the number of waiters that programs have, and calls `visit` (NULL: not) for each ledger
 * that they wait for; of nested work for those of all levels.  NULL is harmless. */
TAKT_EXPORT size_t takt_relays_waiting(const takt_relays *relays, takt_relays_visit visit,
                                       void *data);

/* No program gets a slot or a permit from now on: waiters fail as if the store was unreachable. The
 * programs may release the permits that they hold. */
TAKT_EXPORT void takt_relays_drain(takt_relays *relays);

/* Closes all relays; their shared memory is freed when the loop runs next.  Call it before
 * takt_close.  NULL is harmless. */
TAKT_EXPORT void takt_relays_close(takt_relays *relays);

/* Opens the relay of a connection.  `send` is called later, with `data`.  0 or TAKT_E_NOMEM. */
TAKT_EXPORT int takt_relay_open(takt_relay **relay, takt_relays *relays, takt_relay_send send,
                                void *data);

/* Handles a command of `count` words with their `sizes`; the first is RELAY, and no NUL is needed.
 * 0, or TAKT_E_INVALID with the reason in `error`: answer with it, and close the connection. */
TAKT_EXPORT int takt_relay_command(takt_relay *relay, int count, const char *const *words,
                                   const size_t *sizes, takt_error *error);

/* Whether so many calls of the program are under way that its connection should not be read further
 * for now.  Each answer goes through takt_relay_send: ask again after that.  NULL: it is not. */
TAKT_EXPORT int takt_relay_is_busy(const takt_relay *relay);

/* Tells the client of an agent that one more process waits for a request, besides the programs of
 * relays.  `process` is any address that is the process's alone.  In the fleet the client has as
 * many shares of the request's limits as processes wait for them.  NULL: no memory, or takt_acquire
 * would refuse the request; then the process is not counted. */
TAKT_EXPORT takt_process *takt_process_enter(takt_client *client, const void *process,
                                             const takt_request *request);

/* The process no longer waits for the request; before takt_close.  NULL is harmless. */
TAKT_EXPORT void takt_process_leave(takt_process *process);

/* Call it when the connection has ended: cancels its waiters and releases its permits.  NULL is
 * harmless. */
TAKT_EXPORT void takt_relay_close(takt_relay *relay);

#ifdef __cplusplus
}
#endif
#endif
