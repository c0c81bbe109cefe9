/*
 * server.c: see server.h.
 */
#include "scheduler/server.h"

#include <stdlib.h>

static bool grow(takt_servers *servers, int count)
{
    takt_server **more = realloc(servers->more, (size_t)count * sizeof(takt_server *));

    if (!more)
        return false;
    servers->more = more;
    while (servers->more_count < count) {
        more[servers->more_count] = calloc(1, sizeof **more);
        if (!more[servers->more_count])
            return false;
        servers->more_count++;
    }
    return true;
}

takt_server *takt_servers_get(takt_servers *servers, int number)
{
    if (number == 0 || (number > servers->more_count && !grow(servers, number)))
        return &servers->first;
    return servers->more[number - 1];
}

void takt_servers_close(takt_servers *servers)
{
    for (int i = 0; i < servers->more_count; i++)
        free(servers->more[i]);
    free(servers->more);
    *servers = (takt_servers){.more = NULL};
}
