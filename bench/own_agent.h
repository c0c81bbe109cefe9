/*
 * own_agent.h: an agent of a bench's own, on a socket in a fresh directory, over the server of
 * server.h, and blocking clients of it.  There is one at most; it ends with the program that
 * started it.
 */
#ifndef TAKT_BENCH_OWN_AGENT_H
#define TAKT_BENCH_OWN_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "redis/resp.h"

/* Starts the program takt-agent, and waits until it serves. */
void bench_agent_start(const char *program);

/* The processor time that it has taken so far, and its resident memory. */
int64_t bench_agent_cpu_ns(void);
int64_t bench_agent_memory_kb(void);

/* A connection, and where its stream of answers stands. */
typedef struct bench_client {
    int fd;
    char mark; /* a line that begins with it is an answer that counts */
    bool in_line;
    int64_t lines, answers;
    takt_resp_out out;
} bench_client;

bench_client bench_agent_connect(void);
void bench_client_close(bench_client *client);

/* Appends a command; its words end with NULL. */
void bench_client_put(bench_client *client, const char *const *words);
#define BENCH_PUT(client, ...) bench_client_put(client, (const char *const[]){__VA_ARGS__, NULL})

/* Sends what was put. */
void bench_client_send(bench_client *client);

/* Reads once, and counts lines and answers.  An error ends the program. */
void bench_client_read(bench_client *client);

/* Sends what was put, and waits for so many answers of a status each. */
void bench_client_do(bench_client *client, int answers);

#endif
