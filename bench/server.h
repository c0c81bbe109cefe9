/*
 * server.h: a Redis server of a bench's own, on a socket in a fresh directory.  There is one at
 * most; it ends with the program that started it.  $REDIS_SERVER is another program to be it.
 */
#ifndef TAKT_BENCH_SERVER_H
#define TAKT_BENCH_SERVER_H

#include <stdint.h>
#include <sys/types.h>

/* The URL of its store; the first call starts it. */
const char *bench_server(void);

/* The path of its socket; before it is started a path where nobody listens. */
const char *bench_server_socket(void);

/* Sends it a signal; SIGKILL also waits for its end. */
void bench_server_kill(int signal);

/* The processor time that it has taken so far; 0 where there is none. */
int64_t bench_server_cpu_ns(void);

/* Says a line of words to it and returns the answer as it came (static memory). */
const char *bench_server_say(const char *words);

/* A number that INFO tells, such as "used_memory". */
int64_t bench_server_info(const char *name);

#endif
