/*
 * redis_cluster.h: examines a cluster: whether each slot has a node, the replicas of each shard,
 * and the clocks of all nodes.
 */
#ifndef TAKT_DOCTOR_REDIS_CLUSTER_H
#define TAKT_DOCTOR_REDIS_CLUSTER_H

#include "doctor/checkup.h"
#include "redis/tls.h"
#include "redis/url.h"

/* Of several nodes that `url` lists, names the first one that answers as its host; the nodes before
 * it are warnings. If none answers, the host stays. */
void takt_redis_cluster_choose(takt_checkup *checkup, takt_redis_url *url, takt_tls_trust *trust);

/* Asks the node of `url`, then all nodes that it names, and reports. */
void takt_redis_cluster_examine(takt_checkup *checkup, const takt_redis_url *url,
                                takt_tls_trust *trust);

#endif
