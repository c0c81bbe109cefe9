/*
 * stores.h: the kinds of store that tests of a client run on, one at a time.
 */
#ifndef TAKT_TESTS_CLIENT_STORES_H
#define TAKT_TESTS_CLIENT_STORES_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/server.h"

enum { MEMORY, STORE_FILE, REDIS };

static struct server server;
static char store_folder[32], store_url[160];

/* Makes a store that all clients of the test share: in memory, a file of its own, or a real server.
 * Returns its URL. */
static inline const char *open_store(int kind)
{
    strcpy(store_url, "memory:test");
    if (kind == STORE_FILE) {
        strcpy(store_folder, "/tmp/takt-stores-XXXXXX");
        cr_assert_not_null(mkdtemp(store_folder));
        snprintf(store_url, sizeof store_url, "file:%s/", store_folder);
    }
    if (kind == REDIS) {
        server_start(&server, NULL);
        strcpy(store_url, server.url);
    }
    return store_url;
}

static inline void close_store(int kind)
{
    char command[64];

    if (kind == STORE_FILE) {
        snprintf(command, sizeof command, "rm -r %s", store_folder);
        cr_assert_eq(system(command), 0);
    }
    if (kind == REDIS)
        server_stop(&server);
}

/* Calls test(URL) for each of them. */
static inline void on_each_store(void (*test)(const char *url))
{
    for (int kind = MEMORY; kind <= REDIS; kind++) {
        test(kind == MEMORY ? "memory:" : open_store(kind));
        close_store(kind);
    }
}

#endif
