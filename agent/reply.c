/*
 * reply.c: see reply.h.
 */
#include "reply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 32

/* Without memory the connection ends: a client would misread an incomplete answer. */
static void put(takt_agent_connection *connection, const char *bytes, size_t size)
{
    if (connection->closing)
        return;
    if (takt_resp_put(&connection->out, bytes, size))
        takt_agent_go_on(connection);
    else
        takt_agent_break_off(connection);
}

void takt_agent_reply_bytes(takt_agent_connection *connection, const char *bytes, size_t size)
{
    put(connection, bytes, size);
}

static void put_number(takt_agent_connection *connection, char type, int64_t number)
{
    char line[LINE_SIZE], *at = line + sizeof(line);
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    *--at = '\n';
    *--at = '\r';
    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0)
        *--at = '-';
    *--at = type;
    put(connection, at, (size_t)(line + sizeof(line) - at));
}

void takt_agent_reply_status(takt_agent_connection *connection, const char *text)
{
    put(connection, "+", 1);
    put(connection, text, strlen(text));
    put(connection, "\r\n", 2);
}

void takt_agent_reply_integer(takt_agent_connection *connection, int64_t integer)
{
    put_number(connection, ':', integer);
}

void takt_agent_reply_text(takt_agent_connection *connection, const char *text, size_t size)
{
    put_number(connection, '$', (int64_t)size);
    put(connection, text, size);
    put(connection, "\r\n", 2);
}

void takt_agent_reply_nil(takt_agent_connection *connection)
{
    if (connection->protocol == 3)
        put(connection, "_\r\n", 3);
    else
        put(connection, "$-1\r\n", 5);
}

void takt_agent_reply_string(takt_agent_connection *connection, const char *text)
{
    if (text)
        takt_agent_reply_text(connection, text, strlen(text));
    else
        takt_agent_reply_nil(connection);
}

void takt_agent_reply_array(takt_agent_connection *connection, size_t count)
{
    put_number(connection, '*', (int64_t)count);
}

void takt_agent_reply_map(takt_agent_connection *connection, size_t count)
{
    if (connection->protocol == 3)
        put_number(connection, '%', (int64_t)count);
    else
        put_number(connection, '*', 2 * (int64_t)count);
}

void takt_agent_reply_push(takt_agent_connection *connection, size_t count)
{
    put_number(connection, '>', (int64_t)count);
}

void takt_agent_reply_error(takt_agent_connection *connection, const char *code, const char *format,
                            ...)
{
    char line[TAKT_ERROR_TEXT_SIZE + 128];
    va_list arguments;
    int used = snprintf(line, sizeof(line), "-%s ", code);

    va_start(arguments, format);
    vsnprintf(line + used, sizeof(line) - (size_t)used - 2, format, arguments);
    va_end(arguments);
    for (char *at = line; *at; at++) /* a line end would begin another answer */
        if (*at == '\r' || *at == '\n')
            *at = ' ';
    strcat(line, "\r\n");
    put(connection, line, strlen(line));
}

const char *takt_agent_code(int code)
{
    switch (code) {
    case TAKT_E_NO_LIMIT:
        return "NOLIMIT";
    case TAKT_E_COST:
        return "COST";
    case TAKT_E_FULL:
        return "FULL";
    case TAKT_E_DEADLINE:
    case TAKT_E_NO_SLOT:
        return "DEADLINE";
    case TAKT_E_STORE:
    case TAKT_E_STORE_TIMEOUT:
    case TAKT_E_STORE_URL:
    case TAKT_E_STORE_ACCESS:
    case TAKT_E_STORE_SPACE:
    case TAKT_E_STORE_FORMAT:
        return "STORE";
    case TAKT_E_CANCELED:
        return "CLOSING";
    default:
        return "ERR";
    }
}
