/*
 * sentinel.h: asks the Sentinels of a URL where the primary is, and listens for its move.
 *
 * Decides which Sentinel to ask: the listed ones in turn, from a random one on, until one names the
 * primary. The connection to that one stays open: it receives "+switch-master", and answers further
 * questions without a new connection. It asks only listed Sentinels and learns of no others, so
 * this process trusts only the hosts in the URL. An answer is a hint: connection.h checks the role
 * of the named server.
 */
#ifndef TAKT_REDIS_SENTINEL_H
#define TAKT_REDIS_SENTINEL_H

#include <stdbool.h>
#include <uv.h>

#include "redis/backoff.h"
#include "redis/tls.h"
#include "redis/url.h"

typedef struct takt_redis_sentinel takt_redis_sentinel;

/* All called on the loop's thread; found() and not_found() also inside takt_redis_sentinel_ask. */
typedef struct takt_redis_sentinel_events {
    /* A Sentinel has named the primary, asked or not. `changed`: it is another one than before. */
    void (*found)(void *data, bool changed);
    /* No Sentinel has named the primary; `text` has the answer of the last one. */
    void (*not_found)(void *data, int code, const char *text);
    void (*closed)(void *data); /* after takt_redis_sentinel_close: it is freed */
} takt_redis_sentinel_events;

/* Does not ask yet. The url, the trust and the pace must outlive it. NULL: no memory. */
takt_redis_sentinel *takt_redis_sentinel_open(uv_loop_t *loop, const takt_redis_url *url,
                                              takt_tls_trust *trust, uint64_t timeout_ms,
                                              takt_pace *pace,
                                              const takt_redis_sentinel_events *events, void *data);

/* The URL with the host and the port of the primary; without a host before found(). */
const takt_redis_url *takt_redis_sentinel_server(const takt_redis_sentinel *sentinel);

/* found() or not_found() follows; one for several questions at the same time. */
void takt_redis_sentinel_ask(takt_redis_sentinel *sentinel);

void takt_redis_sentinel_close(takt_redis_sentinel *sentinel);

#endif
