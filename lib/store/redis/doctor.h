/*
 * doctor.h: what a Redis or Valkey server tells of itself and lets our user do.
 */
#ifndef TAKT_STORE_REDIS_DOCTOR_H
#define TAKT_STORE_REDIS_DOCTOR_H

#include "redis/url.h"
#include "store/doctor.h"

/* Examine the server that follows a scheme of that way; load the scripts into it. */
void takt_redis_examine(takt_checkup *checkup, takt_redis_way way, const char *rest);
void takt_redis_load_scripts(takt_checkup *checkup, takt_redis_way way, const char *rest);

#endif
