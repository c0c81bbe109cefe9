/*
 * resp.h: replies as values, and commands as bytes.
 *
 * hiredis parses. Its input is bounded (resp_bounds.h), and its values go into memory that is
 * reused for each reply, as the values of reply.h. Only this file includes hiredis, whose versions
 * differ.
 */
#ifndef TAKT_REDIS_RESP_H
#define TAKT_REDIS_RESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redis/reply.h"
#include "redis/resp_bounds.h"

typedef struct takt_resp takt_resp;

/* `max` (NULL: takt_resp_of_scripts) is read during the call. NULL: no memory. */
takt_resp *takt_resp_new(const takt_resp_max *max);
void takt_resp_free(takt_resp *resp);

/* Drops an unfinished reply: a new stream follows. False: no memory. */
bool takt_resp_restart(takt_resp *resp);

/* Feeds the next bytes of the stream. 0, TAKT_E_NOMEM, TAKT_E_STORE, or the code of takt_resp_max,
 * with a static text in *why: the stream must not be read any further. */
int takt_resp_feed(takt_resp *resp, const char *bytes, size_t size, const char **why);

/* 1: *reply is the next reply, valid until takt_resp_next or takt_resp_restart is called.  0: more
 * bytes are needed.  Else as takt_resp_feed. */
int takt_resp_next(takt_resp *resp, const takt_reply **reply, const char **why);

/* Whether no part of a further reply has come: the reader can serve another stream. */
bool takt_resp_is_between(const takt_resp *resp);

/* Bytes to send: one command after the other. */
typedef struct takt_resp_out {
    char *bytes; /* NULL at first; the owner frees it */
    size_t size;
    size_t capacity;
} takt_resp_out;

/* Appends a command. False: no memory, and nothing was appended. */
bool takt_resp_command(takt_resp_out *out, int count, const char *const *arguments,
                       const size_t *sizes);

/* Appends bytes. False: no memory, and nothing was appended. */
bool takt_resp_put(takt_resp_out *out, const char *bytes, size_t size);

#endif
