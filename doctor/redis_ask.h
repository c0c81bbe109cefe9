/*
 * redis_ask.h: puts some questions to one server on a connection of its own, and waits for the
 * answers. Connecting is tried once.
 */
#ifndef TAKT_DOCTOR_REDIS_ASK_H
#define TAKT_DOCTOR_REDIS_ASK_H

#include "redis/connection.h"

#define TAKT_REDIS_ASK_WORDS 3
#define TAKT_REDIS_ASK_MAX   4

/* A command of up to so many words (NULL behind fewer), and what reads its answer. */
typedef struct takt_redis_question {
    const char *words[TAKT_REDIS_ASK_WORDS];
    void (*answered)(void *data, const takt_reply *reply);
} takt_redis_question;

/*
 * Connects to the server of `url`, puts `count` questions (at most TAKT_REDIS_ASK_MAX) in one
 * write, and returns when all are answered (without questions: when the server would answer), with
 * 0. A code of takt/error.h and a text that names
 * the server, if it cannot be reached or does not answer within `timeout_us`.
 */
int takt_redis_ask(const takt_redis_url *url, takt_tls_trust *trust, int64_t timeout_us,
                   const takt_redis_question *questions, int count, void *data, takt_error *error);

/* Another server with the login of `url`: a node of its cluster. */
void takt_redis_ask_at(takt_redis_url *node, const takt_redis_url *url,
                       const takt_redis_address *address);

#endif
