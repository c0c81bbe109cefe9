/*
 * away.h: the hosts that no connection can be made to, of each limit and key.  As long as one is
 * away, its jobs wait for the end of a pause (jobs/outage.h) instead of being tried in vain.
 */
#ifndef TAKT_WORKERS_CALL_AWAY_H
#define TAKT_WORKERS_CALL_AWAY_H

#include "jobs/frame/outage.h"

#define AWAY_MAX 1024 /* hosts; further ones are not remembered */

/* Where a job's call goes: its limit, its key ("": none), and its URL. */
typedef struct away_place {
    const char *limit, *key, *url;
} away_place;

typedef struct away_host {
    struct away_host *next;
    outage outage;
    bool is_one_of_many; /* others of this limit and key were reached meanwhile */
    char *limit, *key;
    char name[]; /* scheme://host:port */
} away_host;

typedef struct away {
    away_host *first;
    int count;
} away;

/* A place's host, if it is away; NULL. */
away_host *away_find(away *away, const away_place *place);

/* The same, and it is away from now on; NULL: no memory, or there are too many. */
away_host *away_add(away *away, const away_place *place);

/* A place's host is there. */
void away_reached(away *away, const away_place *place);

void away_free(away *away);

#endif
