/*
 * direct.h: what takt is compared with: a minimal GCRA script, sent by takt's own connection.
 */
#ifndef TAKT_BENCH_DIRECT_H
#define TAKT_BENCH_DIRECT_H

#include <uv.h>

#include "redis/connection.h"

/* Connects to the server at a socket and loads the script; runs the loop until that is done. */
void bench_direct_open(uv_loop_t *loop, const char *socket);

/* Sends any command.  `command->answered` is called with the answer, which must not be an error. */
void bench_direct_send(takt_redis_command *command, int count, const char *const *words);

/* Sends the script: one token of 1000000/s with burst 1000000 is taken. */
void bench_direct_ask(takt_redis_command *command);

/* The same of any key and rate: 0 is answered, or how long to wait, in microseconds. */
void bench_direct_ask_for(takt_redis_command *command, const char *key, const char *interval_us,
                          const char *burst_us);

/* Sends the script `count` times, `outstanding` at a time, and waits for the answers. */
void bench_direct_ask_many(int64_t count, int outstanding);

/* The name that EVALSHA takes. */
const char *bench_direct_sha1(void);

void bench_direct_close(void);

#endif
