/*
 * tls.h: TLS between bytes in memory: what goes to and comes from the socket is the caller's
 * affair.  Decides whom we trust: a certificate that a known authority signed, that is valid now
 * and that names the host we meant, over TLS 1.2 or newer.  There is no way to switch that off.
 */
#ifndef TAKT_REDIS_TLS_H
#define TAKT_REDIS_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "redis/url.h"

#define TAKT_TLS_TEXT_SIZE 160

typedef struct takt_tls_trust takt_tls_trust; /* for all connections of a store */
typedef struct takt_tls takt_tls;             /* one connection */

/* Reads the files that the URL names (ca=; without it the system's authorities).  0, or a code and
 * words. */
int takt_tls_trust_open(takt_tls_trust **trust, const takt_redis_url *url, takt_error *error);
void takt_tls_trust_close(takt_tls_trust *trust); /* NULL is harmless */

takt_tls *takt_tls_new(takt_tls_trust *trust, const char *host); /* NULL: no memory */
void takt_tls_free(takt_tls *tls);                               /* NULL is harmless */

/* Goes on with the greeting.  1: done; 0: bytes from the peer are needed; -1: refused, `text` says
 * why. */
int takt_tls_greet(takt_tls *tls, char text[TAKT_TLS_TEXT_SIZE]);

/* Bytes that came from the peer.  False: no memory. */
bool takt_tls_feed(takt_tls *tls, const char *bytes, size_t size);

/* What they say: the number of bytes written to `bytes`; 0: more is needed; -1: the connection is
 * over, `text` says why. */
int takt_tls_read(takt_tls *tls, char *bytes, int size, char text[TAKT_TLS_TEXT_SIZE]);

/* Something to say, after the greeting.  False: the connection is over. */
bool takt_tls_write(takt_tls *tls, const char *bytes, size_t size);

/* What is to be sent to the peer now: the number of bytes written to `bytes`. */
size_t takt_tls_take(takt_tls *tls, char *bytes, size_t size);

#endif
