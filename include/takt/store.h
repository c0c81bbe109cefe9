/*
 * takt/store.h: where ledgers live.
 *
 * A store is named by a URL:
 *
 *   file:PATH[?sync=always]
 *       a file shared by all processes of this host; PATH is the file, or a directory (an existing
 *       one, or a name that ends in "/") in which ledgers.mdb is made
 *   file:
 *       the default: $XDG_STATE_HOME/takt/ledgers.mdb, else ~/.local/state/takt/ledgers.mdb
 *   redis://[USER[:PASSWORD]@]HOST[:PORT][/DB], rediss://..., unix:PATH
 *       a Redis or Valkey server, over TCP, over TLS, or by a socket of this host; docs/redis.md
 *       tells the options.  Opening it does not wait for the server.
 *   memory:
 *       this client alone: tests, single processes
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

/* Says whether `url` is written as a store's URL, without opening it: 0 or TAKT_E_STORE_URL. */
TAKT_EXPORT int takt_store_check_url(const char *url, takt_error *error);

/*
 * The URL that is used when nobody names one, with its path filled in, for messages; cut to `size`.
 * TAKT_E_STORE_URL where neither $XDG_STATE_HOME nor $HOME is set.
 */
TAKT_EXPORT int takt_store_default_url(char *url, size_t size, takt_error *error);

#ifdef __cplusplus
}
#endif
#endif
