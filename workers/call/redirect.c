/*
 * redirect.c: see redirect.h.
 */
#include "redirect.h"

#include <string.h>
#include <strings.h>

#include <curl/curl.h>

typedef struct place {
    char *scheme, *host, *port;
} place;

static bool find(const char *text, place *found)
{
    CURLU *url = curl_url();
    bool good = url && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_SCHEME, &found->scheme, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_HOST, &found->host, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_PORT, &found->port, CURLU_DEFAULT_PORT) == CURLUE_OK;

    curl_url_cleanup(url);
    return good;
}

static void forget(place *found)
{
    curl_free(found->scheme);
    curl_free(found->host);
    curl_free(found->port);
}

static bool is_same(const place *from, const place *to)
{
    if (strcasecmp(from->host, to->host) != 0)
        return false;
    if (strcmp(from->scheme, to->scheme) == 0)
        return strcmp(from->port, to->port) == 0;
    return strcmp(from->port, "80") == 0 && strcmp(to->port, "443") == 0;
}

static takt_caller_redirect_verdict judge(takt_caller_redirect_rule rule, const place *from,
                                          const place *to, const char **why)
{
    bool secure = strcmp(to->scheme, "https") == 0;

    *why = "a redirect to something that is neither http nor https";
    if (!secure && strcmp(to->scheme, "http") != 0)
        return REDIRECT_REFUSED;
    *why = "a redirect from https to http";
    if (!secure && strcmp(from->scheme, "https") == 0)
        return REDIRECT_REFUSED;
    if (is_same(from, to))
        return REDIRECT_HOME;
    *why = "a redirect to another host (--redirects any would follow it)";
    return rule == REDIRECT_ANY ? REDIRECT_ABROAD : REDIRECT_REFUSED;
}

takt_caller_redirect_verdict takt_caller_redirect_judge(takt_caller_redirect_rule rule,
                                                        const char *from, const char *to,
                                                        const char **why)
{
    place here = {NULL, NULL, NULL}, there = {NULL, NULL, NULL};
    takt_caller_redirect_verdict verdict = REDIRECT_REFUSED;

    *why = "a redirect (--redirects same-host would follow it)";
    if (rule != REDIRECT_NONE) {
        *why = "a redirect to nowhere";
        if (find(from, &here) && find(to, &there))
            verdict = judge(rule, &here, &there, why);
    }
    forget(&here);
    forget(&there);
    return verdict;
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
