/*
 * away.c: see away.h.
 */
#include "away.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "https://a.example:8443" of "https://a.example:8443/b?c" */
static size_t host_size(const char *url)
{
    const char *behind = strstr(url, "://");
    size_t scheme = behind ? (size_t)(behind - url) + 3 : 0;

    return scheme + strcspn(url + scheme, "/?#");
}

static bool is_of(const takt_caller_away_host *host, const takt_caller_away_target *target)
{
    return strcmp(host->limit, target->limit) == 0 && strcmp(host->key, target->key) == 0;
}

/* The link that points to the host; it points to NULL when the host is not listed. */
static takt_caller_away_host **link_to(takt_caller_away *away,
                                       const takt_caller_away_target *target)
{
    size_t size = host_size(target->url);
    takt_caller_away_host **at = &away->first;

    while (*at && (strncasecmp((*at)->name, target->url, size) != 0 || (*at)->name[size] ||
                   !is_of(*at, target)))
        at = &(*at)->next;
    return at;
}

takt_caller_away_host *takt_caller_away_find(takt_caller_away *away,
                                             const takt_caller_away_target *target)
{
    return *link_to(away, target);
}

takt_caller_away_host *takt_caller_away_add(takt_caller_away *away,
                                            const takt_caller_away_target *target)
{
    takt_caller_away_host *host = takt_caller_away_find(away, target);
    size_t host_room = host_size(target->url) + 1, limit_room = strlen(target->limit) + 1;
    size_t key_room = strlen(target->key) + 1;

    if (host || away->count == AWAY_MAX)
        return host;
    host = calloc(1, sizeof(*host) + host_room + limit_room + key_room);
    if (!host)
        return NULL;
    host->limit = host->name + host_room;
    host->key = host->limit + limit_room;
    memcpy(host->name, target->url, host_room - 1);
    memcpy(host->limit, target->limit, limit_room);
    memcpy(host->key, target->key, key_room);
    host->next = away->first;
    away->first = host;
    away->count++;
    return host;
}

void takt_caller_away_reached(takt_caller_away *away, const takt_caller_away_target *target)
{
    takt_caller_away_host **at = link_to(away, target), *host = *at;

    if (host) {
        *at = host->next;
        away->count--;
        free(host);
    }
    for (host = away->first; host; host = host->next)
        if (is_of(host, target))
            host->is_one_of_many = true;
}

void takt_caller_away_free(takt_caller_away *away)
{
    for (takt_caller_away_host *at = away->first, *next; at; at = next) {
        next = at->next;
        free(at);
    }
}
