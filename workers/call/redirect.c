/*
 * redirect.c: see redirect.h.
 */
#include "redirect.h"

#include <string.h>
#include <strings.h>

#include "origin.h"

static bool is_same(const takt_caller_origin *from, const takt_caller_origin *to)
{
    if (strcasecmp(from->host, to->host) != 0)
        return false;
    if (strcmp(from->scheme, to->scheme) == 0)
        return from->port == to->port;
    return from->port == 80 && to->port == 443;
}

/* Why the target's host may not be called; NULL: it may be. */
static const char *refuse_host(const char *hosts, const takt_caller_origin *to)
{
    switch (takt_caller_hosts_judge(hosts, to->host, to->port)) {
    case TAKT_CALLER_HOSTS_PRIVATE:
        return "a redirect to a private address (--hosts would allow it)";
    case TAKT_CALLER_HOSTS_UNLISTED:
        return "a redirect to a host that --hosts does not list";
    case TAKT_CALLER_HOSTS_LISTED:
    case TAKT_CALLER_HOSTS_PUBLIC:
        break;
    }
    return NULL;
}

static takt_caller_redirect_verdict judge(takt_caller_redirect_rule rule, const char *hosts,
                                          const takt_caller_origin *from,
                                          const takt_caller_origin *to, const char **why)
{
    bool secure = strcmp(to->scheme, "https") == 0;

    *why = "a redirect to a URL that is neither http nor https";
    if (!takt_caller_origin_is_http(to))
        return REDIRECT_REFUSED;
    *why = "a redirect from https to http";
    if (!secure && strcmp(from->scheme, "https") == 0)
        return REDIRECT_REFUSED;
    *why = "a redirect to a URL with a user or a password";
    if (to->has_user)
        return REDIRECT_REFUSED;
    *why = "a redirect to another host (--redirects any would follow it)";
    if (rule != REDIRECT_ANY && !is_same(from, to))
        return REDIRECT_REFUSED;
    *why = refuse_host(hosts, to);
    if (*why)
        return REDIRECT_REFUSED;
    return is_same(from, to) ? REDIRECT_HOME : REDIRECT_ABROAD;
}

takt_caller_redirect_verdict takt_caller_redirect_judge(takt_caller_redirect_rule rule,
                                                        const char *hosts, const char *from,
                                                        const char *to, const char **why)
{
    takt_caller_origin here, there;

    *why = "a redirect (--redirects same-host would follow it)";
    if (rule == REDIRECT_NONE)
        return REDIRECT_REFUSED;
    *why = "a redirect without a target";
    if (!takt_caller_origin_of(from, &here) || !takt_caller_origin_of(to, &there))
        return REDIRECT_REFUSED;
    return judge(rule, hosts, &here, &there, why);
}

bool takt_caller_redirect_is_one(long status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

const char *takt_caller_redirect_method(long status, const char *method)
{
    if (status == 303)
        return strcmp(method, "HEAD") == 0 ? NULL : "GET";
    if ((status == 301 || status == 302) && strcmp(method, "POST") == 0)
        return "GET";
    return NULL;
}

bool takt_caller_redirect_is_for_all(const char *name)
{
    return strncasecmp(name, "accept", 6) == 0 || strncasecmp(name, "content-", 8) == 0 ||
           strcasecmp(name, "user-agent") == 0;
}
