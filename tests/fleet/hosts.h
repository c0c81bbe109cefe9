/*
 * hosts.h: a fleet of hosts with agents, each of which claims for all processes of its host.
 *
 * No faults, and each process always wants more.  All hosts together keep the rate exactly (promise
 * 5), and each host gets a part in proportion to its processes, to 2 % (promise 4).
 */
#ifndef TAKT_TESTS_HOSTS_H
#define TAKT_TESTS_HOSTS_H

#include <stdint.h>

/* Some hosts at random. */
void hosts_run(uint64_t seed);

/* 200 hosts of 50 processes each, and as many of 1 to 99, at 1000/s; two of one process. */
void hosts_run_many(void);

#endif
