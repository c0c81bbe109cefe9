/*
 * url.c: see url.h.
 */
#include "store/agent/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/quote.h"

#define SYSTEM_SOCKET "/run/takt/agent.sock"

/* The socket of this user's agent if it is there, else the system's if that is there, else where
 * this user's agent would listen. */
static void find_usual(char *path, size_t size)
{
    const char *directory = getenv("XDG_RUNTIME_DIR");
    bool own = directory != NULL && directory[0] == '/';

    if (own)
        snprintf(path, size, "%s/takt/agent.sock", directory);
    if (!own || (access(path, F_OK) != 0 && access(SYSTEM_SOCKET, F_OK) == 0))
        snprintf(path, size, "%s", SYSTEM_SOCKET);
}

int takt_agent_url_parse(takt_redis_url *url, const char *rest, takt_error *error)
{
    char usual[PATH_MAX], quoted[TAKT_QUOTE_SIZE];
    const char *path = rest;

    *url = (takt_redis_url){.transport = TAKT_REDIS_UNIX};
    if (strchr(rest, '?') != NULL)
        return takt_fail(error, TAKT_E_STORE_URL,
                         "agent: there are no parameters, but here is %s: remove it",
                         takt_quote(strchr(rest, '?'), quoted));
    if (rest[0] == '\0') {
        find_usual(usual, sizeof usual);
        path = usual;
    }
    if (path[0] != '/')
        return takt_fail(error, TAKT_E_STORE_URL,
                         "agent: the path of the agent's socket begins with \"/\"; write "
                         "agent:/run/takt/agent.sock, or agent: for the usual place");
    if (strlen(path) > TAKT_REDIS_SOCKET_MAX)
        return takt_fail(error, TAKT_E_STORE_URL,
                         "agent: the path of a socket has %d bytes at most: use a shorter one, "
                         "with takt-agent --listen",
                         TAKT_REDIS_SOCKET_MAX);
    memcpy(url->path, path, strlen(path) + 1);
    return 0;
}
