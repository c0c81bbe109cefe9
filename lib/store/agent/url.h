/*
 * url.h: the URL of the agent of this host: where it listens.
 */
#ifndef TAKT_STORE_AGENT_URL_H
#define TAKT_STORE_AGENT_URL_H

#include "redis/url.h"

/* Reads the part of a store's URL after "agent:": a path, or nothing for the usual places.  0 or
 * TAKT_E_STORE_URL. */
int takt_agent_url_parse(takt_redis_url *url, const char *rest, takt_error *error);

#endif
