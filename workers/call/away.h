/*
 * away.h: the hosts that cannot be connected to, for each limit and key. The jobs of such a host
 * wait for the end of a pause (jobs/outage.h) instead of failing one by one.
 */
#ifndef TAKT_WORKERS_CALL_AWAY_H
#define TAKT_WORKERS_CALL_AWAY_H

#include "jobs/frame/outage.h"

#define AWAY_MAX 1024 /* hosts; further ones are not remembered */

/* Where a job's call goes: its limit, its key ("": none), and its URL. */
typedef struct takt_caller_away_target {
    const char *limit, *key, *url;
} takt_caller_away_target;

typedef struct takt_caller_away_host {
    struct takt_caller_away_host *next;
    takt_outage outage;
    bool is_one_of_many; /* other hosts of this limit and key were reached meanwhile */
    char *limit, *key;
    char name[]; /* scheme://host:port */
} takt_caller_away_host;

typedef struct takt_caller_away {
    takt_caller_away_host *first;
    int count;
} takt_caller_away;

/* The host of this target if it cannot be reached; else NULL. */
takt_caller_away_host *takt_caller_away_find(takt_caller_away *away,
                                             const takt_caller_away_target *target);

/* Marks the host as away. NULL: no memory, or AWAY_MAX hosts are listed already. */
takt_caller_away_host *takt_caller_away_add(takt_caller_away *away,
                                            const takt_caller_away_target *target);

/* Marks the host as reachable. */
void takt_caller_away_reached(takt_caller_away *away, const takt_caller_away_target *target);

void takt_caller_away_free(takt_caller_away *away);

#endif
