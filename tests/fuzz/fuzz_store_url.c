/*
 * Any text as a store's URL: it is refused with a message that a terminal can show, or its parts
 * are within their bounds, and the address in messages leads to the same server and shows no
 * secret.
 */
#include "fuzz.h"

#include <takt/store.h>

#include "redis/url.h"
#include "store/file_url.h"
#include "store/store.h"

static void check_error(const takt_error *error)
{
    require(error->code == TAKT_E_STORE_URL && error->text[0] != '\0');
    for (const char *at = error->text; *at; at++)
        require((unsigned char)*at >= 0x20 && *at != 0x7f);
}

static void check_file(const char *rest)
{
    takt_file_url url, again;
    takt_error error = {0};

    if (takt_file_url_parse(&url, rest, &error) != 0) {
        check_error(&error);
        return;
    }
    require(strlen(url.path) < sizeof url.path && url.is_default == (url.path[0] == '\0'));
    require(strchr(url.path, '?') == NULL);
    if (strncmp(url.path, "//", 2) != 0) {
        require(takt_file_url_parse(&again, url.path, NULL) == 0);
        require(strcmp(again.path, url.path) == 0 && !again.sync);
    }
}

/* The place is a URL of its own, which has no user, no password and no options. */
static void check_place(const takt_redis_url *url)
{
    char address[TAKT_REDIS_ADDRESS_SIZE];
    takt_redis_url again;

    takt_redis_url_address(url, address);
    if (url->primary[0] != '\0')
        return; /* shows the first Sentinel, and the name decoded */
    if (url->transport == TAKT_REDIS_UNIX && strncmp(url->path, "//", 2) == 0)
        return; /* is read as "unix:///PATH" */
    require(takt_redis_url_read(&again, address, NULL) == 0);
    require(again.transport == url->transport && again.port == url->port);
    require(strcmp(again.host, url->host) == 0 && strcmp(again.path, url->path) == 0);
    require(url->transport == TAKT_REDIS_UNIX || again.db == url->db);
    require(!again.authenticates && again.user[0] == '\0' && again.password_file[0] == '\0');
    require(again.hints && !again.preloaded && again.ca[0] == '\0');
}

static void check_sentinels(const takt_redis_url *url)
{
    require(url->seed_count >= 1 && url->seed_count <= TAKT_REDIS_SEEDS_MAX);
    for (int i = 0; i < url->seed_count; i++) {
        const takt_redis_address *seed = &url->seeds[i];
        require(takt_redis_is_host(seed->host, strlen(seed->host)));
        require(seed->port >= 1 && seed->port <= 65535);
    }
    require(strlen(url->primary) <= TAKT_REDIS_NAME_MAX && strchr(url->primary, ' ') == NULL);
    require(url->host[0] == '\0' && url->path[0] == '\0' && url->transport != TAKT_REDIS_UNIX);
}

static int check_redis(const char *text)
{
    takt_redis_url url;
    takt_error error = {0};

    if (takt_redis_url_read(&url, text, &error) != 0) {
        check_error(&error);
        return TAKT_E_STORE_URL;
    }
    require(strlen(url.host) <= TAKT_REDIS_HOST_MAX && strlen(url.path) <= TAKT_REDIS_SOCKET_MAX);
    require((url.transport != TAKT_REDIS_UNIX) == (url.seed_count > 0));
    require((url.transport == TAKT_REDIS_UNIX) == (url.path[0] != '\0'));
    if (url.primary[0] != '\0') {
        check_sentinels(&url);
    } else {
        require((url.transport == TAKT_REDIS_UNIX) == (url.host[0] == '\0'));
        require(url.transport == TAKT_REDIS_UNIX || (url.port >= 1 && url.port <= 65535));
    }
    require(url.db >= 0 && url.db <= 99999);
    require(url.authenticates == (url.password[0] != '\0'));
    require((url.cert[0] != '\0') == (url.key[0] != '\0'));
    require(url.transport == TAKT_REDIS_TLS || url.ca[0] == '\0');
    require(url.replicas >= 0 && url.replicas <= 99);
    require((url.replicas > 0) == (url.replica_timeout_ms > 0));
    require(url.replica_timeout_ms <= 10000);
    check_place(&url);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_copy(data, size);
    takt_error error = {0};
    const char *rest;
    const takt_store_kind *kind = takt_store_kind_of(text, &rest, NULL);
    int code = takt_store_check_url(text, &error);

    require(code == 0 || code == TAKT_E_STORE_URL);
    if (code != 0)
        check_error(&error);
    require(kind != NULL || code != 0);
    require(kind == NULL || (rest > text && rest <= text + strlen(text)));
    if (kind == &takt_store_file)
        check_file(rest);
    if (kind == &takt_store_redis || kind == &takt_store_rediss ||
        kind == &takt_store_redis_sentinel || kind == &takt_store_rediss_sentinel ||
        kind == &takt_store_unix)
        require(check_redis(text) == code);
    free(text);
    return 0;
}
