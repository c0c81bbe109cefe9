/*
 * relay.c: the connections of programs whose store is "agent:" (takt/relay.h).
 */
#include "agent.h"
#include "reply.h"

#define WORDS_MAX 8

/* Nothing follows the error that ends a connection. */
static void send_bytes(void *data, const char *bytes, size_t size)
{
    const takt_agent_connection *connection = data;

    if (!bytes)
        takt_agent_break_off(data);
    else if (!connection->ends)
        takt_agent_reply_bytes(data, bytes, size);
}

static int open_relay(takt_agent_connection *connection)
{
    return connection->relay ? 0
                             : takt_relay_open(&connection->relay, connection->agent->relays,
                                               send_bytes, connection);
}

void takt_agent_relay(takt_agent_connection *connection, const takt_reply *words, int count)
{
    const char *texts[WORDS_MAX];
    size_t sizes[WORDS_MAX];
    takt_error error = {.text = "no memory"};
    int code;

    if (connection->agent->draining && !connection->relay) {
        takt_agent_reply_error(connection, "CLOSING", "the agent is shutting down");
        connection->ends = true;
        return;
    }
    for (int i = 0; i < count; i++) {
        texts[i] = words[i].text;
        sizes[i] = words[i].size;
    }
    code = open_relay(connection);
    if (code == 0)
        code = takt_relay_command(connection->relay, count, texts, sizes, &error);
    if (code == 0)
        return;
    takt_agent_reply_error(connection, "ERR", "%s", error.text);
    connection->ends = true;
}
