/*
 * send.c: sends the messages of the store "agent:" (message.h).
 */
#include <string.h>

#include "store/agent/agent.h"

bool takt_agent_store_send(takt_agent_store *store, int count, const char *const *words, int at,
                           size_t size)
{
    size_t sizes[8];

    for (int i = 0; i < count; i++)
        sizes[i] = i == at ? size : strlen(words[i]);
    return takt_redis_connection_send(store->connection, NULL, count, words, sizes);
}
