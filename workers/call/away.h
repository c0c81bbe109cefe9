/*
 * away.h: the hosts that no connection can be made to, of each limit and key.  As long as one is
 * away, its jobs wait for the end of a pause (jobs/outage.h) instead of being tried in vain.
 */
#ifndef TAKT_WORKERS_CALL_AWAY_H
#define TAKT_WORKERS_CALL_AWAY_H

#include "jobs/frame/outage.h"

#define AWAY_MAX 1024 /* hosts; further ones are not remembered */

/* Where a job's call goes: its limit, its key ("": none), and its URL. */
typedef struct takt_caller_away_place {
    const char *limit, *key, *url;
} takt_caller_away_place;

typedef struct takt_caller_away_host {
    struct takt_caller_away_host *next;
    takt_outage outage;
    bool is_one_of_many; /* others of this limit and key were reached meanwhile */
    char *limit, *key;
    char name[]; /* scheme://host:port */
} takt_caller_away_host;

typedef struct takt_caller_away {
    takt_caller_away_host *first;
    int count;
} takt_caller_away;

/* A place's host, if it is away; NULL. */
takt_caller_away_host *takt_caller_away_find(takt_caller_away *away,
                                             const takt_caller_away_place *place);

/* The same, and it is away from now on; NULL: no memory, or there are too many. */
takt_caller_away_host *takt_caller_away_add(takt_caller_away *away,
                                            const takt_caller_away_place *place);

/* A place's host is there. */
void takt_caller_away_reached(takt_caller_away *away, const takt_caller_away_place *place);

void takt_caller_away_free(takt_caller_away *away);

#endif
