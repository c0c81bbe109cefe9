/*
 * takt/store.h: where takt keeps its state.
 *
 * A store is named by a URL:
 *
 *   file:PATH[?sync=always]
 *       a file shared by all processes of this host; PATH is the file, or a directory (an existing
 *       one, or a name that ends in "/") for the file ledgers.mdb
 *   file:
 *       the default: $XDG_STATE_HOME/takt/ledgers.mdb, else ~/.local/state/takt/ledgers.mdb
 *   redis://[USER[:PASSWORD]@]HOST[:PORT][,HOST...][/DB], rediss://..., unix:PATH
 *       a Redis or Valkey server or cluster, over TCP, TLS, or a Unix socket; docs/redis.md lists
 *       the options.
 *       Opening it does not wait for the server.
 *   redis-sentinel://[USER[:PASSWORD]@]HOST[:PORT],HOST[:PORT]/NAME[/DB], rediss-sentinel://...
 *       the primary that these Sentinels watch as NAME; takt follows it when it moves
 *   agent:[PATH]
 *       the agent of this host (docs/agent.md), a client of another store; PATH is its socket, by
 *       default $XDG_RUNTIME_DIR/takt/agent.sock or /run/takt/agent.sock
 *   memory:
 *       this client only: tests, single processes
 *   memory:NAME
 *       shared by the clients of this process that use the same NAME
 */
#ifndef TAKT_STORE_H
#define TAKT_STORE_H

#include <stddef.h>

#include <takt/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the form of a store's URL without opening it: 0 or TAKT_E_STORE_URL. */
TAKT_EXPORT int takt_store_check_url(const char *url, takt_error *error);

/*
 * Writes the default URL with its path, for messages; cut to `size`.  TAKT_E_STORE_URL if neither
 * $XDG_STATE_HOME nor $HOME is set.
 */
TAKT_EXPORT int takt_store_default_url(char *url, size_t size, takt_error *error);

#ifdef __cplusplus
}
#endif
#endif
