/*
 * origin.h: where a URL leads, as libcurl reads it: scheme, host and port.
 */
#ifndef TAKT_WORKERS_CALL_ORIGIN_H
#define TAKT_WORKERS_CALL_ORIGIN_H

#include <stdbool.h>

#include "hosts.h"

typedef struct takt_caller_origin {
    char scheme[8];            /* in lower case */
    char host[CALL_HOST_SIZE]; /* an IPv6 address without its brackets */
    int port;
    bool has_user; /* a user or a password */
} takt_caller_origin;

/* False: the URL cannot be read, or has a scheme or a host that is too long. */
bool takt_caller_origin_of(const char *url, takt_caller_origin *origin);

/* Whether the scheme is http or https. */
bool takt_caller_origin_is_http(const takt_caller_origin *origin);

/* Whether the environment names a proxy for this scheme. The proxy then resolves the host's
 * name. */
bool takt_caller_origin_is_proxied(const takt_caller_origin *origin);

#endif
