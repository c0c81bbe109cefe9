/*
 * store.c: finds the store that a URL names. A new kind of store is a new row in the table; each
 * kind reads the rest of the URL itself.
 */
#include "store/store.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/name.h"
#include "base/quote.h"
#include "store/file_url.h"

static const takt_store_kind *const kinds[] = {
    &takt_store_file,           &takt_store_memory,          &takt_store_redis, &takt_store_rediss,
    &takt_store_redis_sentinel, &takt_store_rediss_sentinel, &takt_store_unix,  &takt_store_agent,
};

#define HOW_TO_WRITE                                                                               \
    "write file: (the default file), file:PATH, redis://HOST:PORT, rediss://HOST:PORT, "           \
    "redis-sentinel://HOST:PORT/NAME, unix:PATH, agent:, memory: or memory:NAME"

/* How a URL of an unknown kind is shown: nothing after the scheme if it may contain a password. */
static const char *shown(const char *url, char text[TAKT_QUOTE_SIZE])
{
    char scheme[24];
    size_t size = strcspn(url, ":");

    if (strchr(url, '@') == NULL)
        return takt_quote(url, text);
    snprintf(scheme, sizeof scheme, "%.*s", (int)(size < sizeof scheme ? size : 0), url);
    return takt_quote(scheme, text);
}

/* Whether the URL looks like a path without a scheme; not "//USER:PASSWORD@HOST". */
static bool is_path(const char *url)
{
    if (strchr(url, '@') != NULL)
        return false;
    return (url[0] == '/' && url[1] != '/') || strncmp(url, "./", 2) == 0 ||
           strncmp(url, "../", 3) == 0;
}

static void refuse_path(const char *path, takt_error *error)
{
    char meant[PATH_MAX], quoted[TAKT_QUOTE_SIZE], quoted_meant[TAKT_QUOTE_SIZE];

    snprintf(meant, sizeof meant, "file:%s", path);
    takt_fail(error, TAKT_E_STORE_URL, "%s is a path, not a store's URL: did you mean %s?",
              takt_quote(path, quoted), takt_quote(meant, quoted_meant));
}

const takt_store_kind *takt_store_kind_of(const char *url, const char **rest, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t size = strlen(kinds[i]->scheme);
        if (strncmp(url, kinds[i]->scheme, size) == 0) {
            *rest = url + size;
            return kinds[i];
        }
    }
    if (is_path(url))
        refuse_path(url, error);
    else
        takt_fail(error, TAKT_E_STORE_URL, "%s is not a store's URL: " HOW_TO_WRITE,
                  shown(url, quoted));
    return NULL;
}

int takt_store_check_url(const char *url, takt_error *error)
{
    const char *rest = NULL;
    const takt_store_kind *kind;

    if (url == NULL)
        return takt_fail(error, TAKT_E_STORE_URL, "no store's URL was given: " HOW_TO_WRITE);
    kind = takt_store_kind_of(url, &rest, error);
    return kind ? kind->check(rest, error) : TAKT_E_STORE_URL;
}

int takt_store_default_url(char *url, size_t size, takt_error *error)
{
    takt_file_url file;
    int code = takt_file_url_default(&file, error);

    if (code == 0)
        snprintf(url, size, "file:%s", file.path);
    return code;
}

int takt_store_list(const char *url, const takt_store_options *options, size_t max,
                    takt_list_found found, void *data, takt_error *error)
{
    const char *rest = NULL;
    const takt_store_kind *kind = takt_store_kind_of(url, &rest, error);

    return kind ? kind->list(kind->scheme, rest, options, max, found, data, error)
                : TAKT_E_STORE_URL;
}

int takt_store_open(takt_store **store, uv_loop_t *loop, const char *url,
                    const takt_store_options *options, takt_error *error)
{
    const char *rest = NULL;
    int code = takt_store_check_url(url, error);

    if (code != 0)
        return code;
    code = takt_name_space_check(options->name_space, error);
    if (code != 0) {
        takt_fail_prefix(error, "namespace: ");
        return code;
    }
    return takt_store_kind_of(url, &rest, error)->open(store, loop, rest, options, error);
}

void takt_store_submit(takt_store *store, takt_store_call *call)
{
    assert(call->done != NULL && call->limit != NULL && call->numbers != NULL && call->key != NULL);
    call->server = 0;
    store->kind->submit(store, call);
}

void takt_store_close(takt_store *store, void (*closed)(void *data), void *data)
{
    store->kind->close(store, closed, data);
}
