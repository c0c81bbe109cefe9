/*
 * stores.h: one test over every kind of store.
 */
#ifndef TAKT_TESTS_CLIENT_STORES_H
#define TAKT_TESTS_CLIENT_STORES_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/redis/server.h"

/* Calls test(URL) for a memory store, a file of its own and a real server. */
static void on_each_store(void (*test)(const char *url))
{
    char folder[] = "/tmp/takt-stores-XXXXXX", file[64], command[64];
    struct server server;

    test("memory:");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(file, sizeof file, "file:%s/", folder);
    test(file);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
    server_start(&server, NULL);
    test(server.url);
    server_stop(&server);
}

#endif
