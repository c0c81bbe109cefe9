/*
 * environment.c: see environment.h.
 */
#include "kit/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PASSWORD "TAKT_REDIS_PASSWORD="
#define SECRET   "TAKT_KEY_SECRET="
#define STORE    "TAKT_STORE="

static const char *store_url(const char *variable)
{
    return strncmp(variable, STORE, strlen(STORE)) == 0 ? variable + strlen(STORE) : NULL;
}

/* The login of redis://USER:PASSWORD@HOST/DB?OPTIONS, up to its "@"; 0: no login. */
static size_t find_login(const char *url, const char **login)
{
    const char *host = NULL, *scheme_end = strstr(url, "://");

    if (!scheme_end || strncmp(url, "redis", 5) != 0)
        return 0;
    *login = scheme_end + 3;
    for (const char *at = *login; *at && *at != '?'; at++)
        if (*at == '@')
            host = at;
    return host ? (size_t)(host - *login) : 0;
}

/* Writes the variable without the password in its URL; returns the variable itself if there is
 * none. */
static char *without_password(char *variable, char *copy)
{
    const char *url = store_url(variable), *login, *colon;
    size_t size = find_login(url, &login);

    colon = size > 0 ? memchr(login, ':', size) : NULL;
    if (!colon)
        return variable;
    size_t kept = (size_t)(colon - variable);
    memcpy(copy, variable, kept);
    strcpy(copy + kept, login + size + (colon == login)); /* without a user, the "@" goes, too */
    return copy;
}

char **takt_environment_for_commands(void)
{
    size_t count = 0, store_size = 0, used = 0;

    for (char **at = environ; at && *at; at++, count++)
        if (store_url(*at))
            store_size += strlen(*at) + 1;
    char **made = malloc((count + 1) * sizeof(*made) + store_size);
    if (!made)
        return NULL;
    char *copy = (char *)(made + count + 1);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], PASSWORD, strlen(PASSWORD)) == 0 ||
            strncmp(environ[i], SECRET, strlen(SECRET)) == 0)
            continue;
        made[used] = environ[i];
        if (store_url(environ[i])) {
            made[used] = without_password(environ[i], copy);
            copy += strlen(environ[i]) + 1;
        }
        used++;
    }
    made[used] = NULL;
    return made;
}
