/*
 * server.h: a server of the store as seen from this process.
 *
 * A store is one server, or the nodes of a cluster.  Each has a clock of its own, and each is lost
 * and comes back alone.  A queue refers to the server that keeps its ledger: the one that the
 * store's last answer named.  Number 0 stands for the store as long as no answer has named a
 * server; a store that is one server has no other.
 */
#ifndef TAKT_SCHEDULER_SERVER_H
#define TAKT_SCHEDULER_SERVER_H

#include "scheduler/clock.h"

/* Whether the server is lost: loss.c. */
typedef struct takt_server_loss {
    bool lost;                 /* a call has failed and none was answered since */
    int trouble;               /* the error, while the loss is not in doubt; 0: none */
    int64_t believed_until_us; /* by the local clock */
    int64_t ask_at_us;         /* before that, no claim only to find out */
    unsigned failures;         /* in a row */
} takt_server_loss;

typedef struct takt_server {
    takt_clock clock;
    takt_server_loss loss;
    int in_flight; /* calls in flight */
    bool reported; /* the driver's: it has reported the loss */
} takt_server;

typedef struct takt_servers {
    takt_server first;  /* number 0 */
    takt_server **more; /* from number 1 on */
    int more_count;
} takt_servers;

/* The server of that number, made if necessary; number 0 if there is no memory. */
takt_server *takt_servers_get(takt_servers *servers, int number);

void takt_servers_close(takt_servers *servers);

#endif
