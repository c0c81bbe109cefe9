/*
 * delay.h: a distant server: what goes to and comes from a socket takes a time each way.  (The
 * proxy of tests/faults does more, and counts whole milliseconds.)
 */
#ifndef TAKT_BENCH_DELAY_H
#define TAKT_BENCH_DELAY_H

#include <stdint.h>

/* Starts a process that passes on between a socket of its own and the one at `path`, each byte
 * delay_ms later, both ways.  Returns the URL of its store.  It ends with this program. */
const char *bench_delay(const char *path, int64_t delay_ms);

#endif
