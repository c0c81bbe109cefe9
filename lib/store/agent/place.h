/*
 * place.h: where the agent of this host listens.
 */
#ifndef TAKT_STORE_AGENT_PLACE_H
#define TAKT_STORE_AGENT_PLACE_H

#include "redis/url.h"

/* Reads the part of a store's URL after "agent:": a path, or nothing for the usual places.  0 or
 * TAKT_E_STORE_URL. */
int takt_agent_place_parse(takt_redis_url *url, const char *rest, takt_error *error);

#endif
