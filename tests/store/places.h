/*
 * places.h: the kinds of stores that the contract tests run over, and a URL that stores of a kind
 * can share.
 */
#ifndef TAKT_TESTS_STORE_PLACES_H
#define TAKT_TESTS_STORE_PLACES_H

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "store/redis/server.h"
#include "store/rig.h"

enum { MEMORY, FILE_STORE, FILE_SYNC, REDIS, KINDS };

static struct criterion_test_params kinds(void)
{
    static int all[KINDS] = {MEMORY, FILE_STORE, FILE_SYNC, REDIS};

    return cr_make_param_array(int, all, KINDS);
}

#define CONTRACT(name)                                                                             \
    ParameterizedTestParameters(contract, name)                                                    \
    {                                                                                              \
        return kinds();                                                                            \
    }                                                                                              \
    ParameterizedTest(int *kind, contract, name)

/* A struct place that stores of a kind can share. */
struct place {
    int kind;
    struct server server; /* REDIS */
    char directory[PATH_MAX];
    char url[PATH_MAX + 32];
};

static void find_place(struct place *url, int kind)
{
    url->kind = kind;
    if (kind == REDIS) {
        server_start(&url->server, NULL);
        snprintf(url->url, sizeof url->url, "%s", url->server.url);
        return;
    }
    rig_directory(url->directory);
    if (kind == MEMORY)
        snprintf(url->url, sizeof url->url, "memory:contract");
    else
        snprintf(url->url, sizeof url->url, "file:%s/l%s", url->directory,
                 kind == FILE_SYNC ? "?sync=always" : "");
}

static void leave_place(struct place *url)
{
    if (url->kind == REDIS)
        server_stop(&url->server);
    else
        rig_remove(url->directory);
}

#endif
