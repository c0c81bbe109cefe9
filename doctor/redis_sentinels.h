/*
 * redis_sentinels.h: examines the Sentinels of a URL: whether they answer, and whether they can
 * promote a replica.
 */
#ifndef TAKT_DOCTOR_REDIS_SENTINELS_H
#define TAKT_DOCTOR_REDIS_SENTINELS_H

#include "doctor/checkup.h"
#include "redis/tls.h"
#include "redis/url.h"

/* Asks each listed Sentinel, and reports. */
void takt_redis_sentinels_examine(takt_checkup *checkup, const takt_redis_url *url,
                                  takt_tls_trust *trust);

#endif
