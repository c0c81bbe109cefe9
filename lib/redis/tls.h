/*
 * tls.h: TLS between buffers in memory; the caller moves the bytes to and from the socket. Decides
 * which servers are trusted: the certificate is signed by a known authority, valid now and names
 * the host, over TLS 1.2 or newer. Verification cannot be switched off.
 */
#ifndef TAKT_REDIS_TLS_H
#define TAKT_REDIS_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "redis/url.h"

#define TAKT_TLS_TEXT_SIZE 160

typedef struct takt_tls_trust takt_tls_trust; /* for all connections of a store */
typedef struct takt_tls takt_tls;             /* one connection */

/* Reads the files that the URL names (ca=; default: the system's authorities). 0, or a code and a
 * message. */
int takt_tls_trust_open(takt_tls_trust **trust, const takt_redis_url *url, takt_error *error);
void takt_tls_trust_close(takt_tls_trust *trust); /* NULL is harmless */

takt_tls *takt_tls_new(takt_tls_trust *trust, const char *host); /* NULL: no memory */
void takt_tls_free(takt_tls *tls);                               /* NULL is harmless */

/* Continues the handshake. 1: done; 0: needs bytes from the peer; -1: refused, `text` says why. */
int takt_tls_greet(takt_tls *tls, char text[TAKT_TLS_TEXT_SIZE]);

/* Feeds bytes from the peer. False: no memory. */
bool takt_tls_feed(takt_tls *tls, const char *bytes, size_t size);

/* Reads decrypted bytes: the number of bytes written to `bytes`; 0: needs more; -1: the connection
 * has ended, `text` says why. */
int takt_tls_read(takt_tls *tls, char *bytes, int size, char text[TAKT_TLS_TEXT_SIZE]);

/* Encrypts bytes, after the handshake. False: the connection has ended. */
bool takt_tls_write(takt_tls *tls, const char *bytes, size_t size);

/* Takes the bytes to send to the peer; returns their number. */
size_t takt_tls_take(takt_tls *tls, char *bytes, size_t size);

#endif
