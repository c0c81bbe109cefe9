/*
 * reply.h: writes answers and push messages in the protocol that a connection has chosen.
 */
#ifndef TAKT_AGENT_REPLY_H
#define TAKT_AGENT_REPLY_H

#include "agent.h"

void takt_agent_reply_status(takt_agent_connection *connection, const char *text);
void takt_agent_reply_integer(takt_agent_connection *connection, int64_t integer);
void takt_agent_reply_text(takt_agent_connection *connection, const char *text, size_t size);
void takt_agent_reply_string(takt_agent_connection *connection, const char *text); /* NULL: nil */
/* What already is an answer of the protocol. */
void takt_agent_reply_bytes(takt_agent_connection *connection, const char *bytes, size_t size);

void takt_agent_reply_nil(takt_agent_connection *connection);

/* Followed by `count` values; of a map by twice as many. */
void takt_agent_reply_array(takt_agent_connection *connection, size_t count);
void takt_agent_reply_map(takt_agent_connection *connection, size_t count);
void takt_agent_reply_push(takt_agent_connection *connection, size_t count);

/* "CODE sentence", in one line. */
void takt_agent_reply_error(takt_agent_connection *connection, const char *code, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));

/* The code of the protocol for one of takt/error.h. */
const char *takt_agent_code(int code);

#endif
