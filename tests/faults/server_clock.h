/*
 * server_clock.h: servers with a wrong clock, by clock_shim.c.
 */
#ifndef TAKT_TESTS_FAULTS_SERVER_CLOCK_H
#define TAKT_TESTS_FAULTS_SERVER_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "store/redis/server.h"

/* Servers started from now on, until server_clock_end, have the returned clock: how far it is ahead
 * of this host's, in microseconds. Its file is in the directory of `server`. */
_Atomic int64_t *server_clock_begin(const struct server *server);
void server_clock_end(void);

/* What the server's clock is ahead of this host's, as scripts read it; the time that the server
 * takes to answer makes it less. */
int64_t server_clock_ahead_us(const struct server *server);

#endif
