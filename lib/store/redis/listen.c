/*
 * listen.c: decides which ledgers a store listens to for hints, and hands each hint on. subscribe.h
 * handles the channels.
 */
#include "store/redis/redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void takt_redis_sign(const takt_redis_store *store, char text[TAKT_REDIS_SIGN_SIZE])
{
    snprintf(text, TAKT_REDIS_SIGN_SIZE, "%" PRIx64, store->worker);
    if (store->worker == 0)
        *text = '\0';
}

static void on_hint(void *data, const char *limit, const char *key, bool own, const char *by,
                    size_t by_size)
{
    takt_redis_store *store = data;
    char sign[TAKT_REDIS_SIGN_SIZE];

    takt_redis_sign(store, sign);
    if (store->closing ||
        (by_size > 0 && by_size == strlen(sign) && memcmp(by, sign, by_size) == 0))
        return;
    if (!own)
        store->options.on_hint(store->options.data, limit, key);
    else if (store->options.on_wake)
        store->options.on_wake(store->options.data, limit, key);
}

/* Whether a ledger may tell a worker to claim: a permit has come free, or its waiters must leave
 * the line. */
static bool wakes_workers(const takt_numbers *numbers)
{
    return numbers->concurrency > 0 || takt_numbers_drops(numbers);
}

void takt_redis_listen(takt_redis_store *store, const takt_store_call *call)
{
    takt_hints_options options = {.name_space = store->name_space,
                                  .on_hint = on_hint,
                                  .closed = store->part_closed,
                                  .data = store};

    if (!store->url.hints || store->options.on_hint == NULL)
        return;
    if (store->hints == NULL) {
        store->hints = takt_hints_open(store->loop, store->connection, &options);
        if (store->hints != NULL && !takt_redis_connection_ready(store->connection))
            takt_hints_hold(store->hints, true);
    }
    if (store->hints != NULL)
        takt_hints_want(store->hints, call->limit->name, call->key,
                        wakes_workers(call->numbers) ? store->worker : 0);
}
