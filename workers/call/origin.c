/*
 * origin.c: see origin.h.
 */
#include "origin.h"

#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

static bool copy_part(CURLU *url, CURLUPart part, unsigned flags, char *copy, size_t size)
{
    char *text = NULL;
    bool good = curl_url_get(url, part, &text, flags) == CURLUE_OK && strlen(text) < size;

    if (good)
        strcpy(copy, text);
    curl_free(text);
    return good;
}

static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK;

    curl_free(text);
    return has;
}

static void drop_brackets(char *host)
{
    size_t size = strlen(host);

    if (size > 2 && host[0] == '[') {
        memmove(host, host + 1, size - 2);
        host[size - 2] = '\0';
    }
}

bool takt_caller_origin_of(const char *text, takt_caller_origin *origin)
{
    CURLU *url = curl_url();
    char port[8];
    bool good = url && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
                copy_part(url, CURLUPART_SCHEME, 0, origin->scheme, sizeof(origin->scheme)) &&
                copy_part(url, CURLUPART_HOST, 0, origin->host, sizeof(origin->host)) &&
                copy_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT, port, sizeof(port));

    good = good && atoi(port) > 0; /* port 0 cannot be connected to */
    if (good) {
        drop_brackets(origin->host);
        origin->port = atoi(port);
        origin->has_user = has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD);
    }
    curl_url_cleanup(url);
    return good;
}

bool takt_caller_origin_is_http(const takt_caller_origin *origin)
{
    return strcmp(origin->scheme, "http") == 0 || strcmp(origin->scheme, "https") == 0;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

/* The variables that libcurl reads. It ignores HTTP_PROXY in capitals. */
bool takt_caller_origin_is_proxied(const takt_caller_origin *origin)
{
    bool is_secure = strcmp(origin->scheme, "https") == 0;

    return (is_secure ? is_set("https_proxy") || is_set("HTTPS_PROXY") : is_set("http_proxy")) ||
           is_set("all_proxy") || is_set("ALL_PROXY");
}
