/*
 * thread_sync.c: one takt_sync that many threads use at a time, in any order, over every kind of
 * store: a plain program, for ThreadSanitizer.  Exit status 0: never more held a permit than may,
 * every call returned, also those that waited when it was closed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <takt/sync.h>

#include "base/random.h"
#include "seed.h"
#include "store/redis/server.h"
#include "store/rig.h"

enum { THREADS = 4, STEPS = 150, SHARED = 3, POLICIES = 2 };

static const char *const texts[POLICIES] = {
    "revision: 1\nlimits:\n"
    "  - {name: two, concurrency: 2}\n"
    "  - {name: inner, rules: [{rate: 2000/s, burst: 9}], within: two}\n"
    "  - {name: quick, rules: [{rate: 2000/s, burst: 3}]}\n"
    "  - {name: shade, mode: shadow, concurrency: 1}\n"
    "  - {name: never, rules: [{rate: 1/18250day}]}\n",
    "revision: 2\nlimits:\n"
    "  - {name: two, concurrency: 2, lease: 20s}\n"
    "  - {name: inner, rules: [{rate: 100/s, burst: 2}], within: two}\n"
    "  - {name: quick, rules: [{rate: 1000/s}]}\n"
    "  - {name: never, rules: [{rate: 1/18250day}]}\n",
};
static const char *const names[] = {"two", "inner", "quick", "shade", "never"};

static takt_sync *sync_of_all;
static takt_policy *policies[POLICIES];
static takt_permit shared[SHARED]; /* acquired and released by any thread */
static atomic_int held, failures;
static atomic_int finished; /* threads that only wait to be cancelled, or will in a moment */
static uint64_t first_seed;

static void expect(bool holds, const char *what, int status)
{
    if (holds)
        return;
    printf("%s: %s\n", what, takt_strerror(status));
    atomic_fetch_add(&failures, 1);
}

static takt_request any_request(uint64_t *random)
{
    takt_request request = TAKT_REQUEST(names[takt_random_below(random, 5)]);

    request.priority = (int32_t)takt_random_below(random, 3) - 1;
    request.max_wait_us = 1 + takt_random_below(random, 20000);
    return request;
}

/* With a permit of its own: two at a time may be here. */
static void work(uint64_t *random)
{
    takt_request request = TAKT_REQUEST(takt_random_below(random, 2) ? "two" : "inner");
    takt_permit permit = {0};
    bool tries = takt_random_below(random, 3) == 0;
    int status = tries ? takt_sync_try_acquire(sync_of_all, &permit, &request, NULL)
                       : takt_sync_acquire(sync_of_all, &permit, &request);

    expect(status == 0 || (tries && status == TAKT_E_NO_SLOT), "work", status);
    if (status != 0)
        return;
    expect(atomic_fetch_add(&held, 1) < 2, "more than two hold it", 0);
    expect(takt_sync_is_held(sync_of_all, &permit), "held by nobody", 0);
    if (takt_random_below(random, 2))
        (void)takt_sync_settle(sync_of_all, &permit, &request,
                               TAKT_USED(takt_random_below(random, 3)));
    atomic_fetch_sub(&held, 1);
    takt_sync_release(sync_of_all, &permit);
}

/* Also with a permit that others use. Not of "two", whose holders are counted. */
static void share(uint64_t *random)
{
    takt_permit *permit = &shared[takt_random_below(random, SHARED)];
    takt_request request = any_request(random);

    if (strcmp(request.limit, "two") == 0 || strcmp(request.limit, "inner") == 0)
        request.limit = "quick";
    switch (takt_random_below(random, 4)) {
    case 0:
        (void)takt_sync_acquire(sync_of_all, permit, &request);
        break;
    case 1:
        (void)takt_sync_try_acquire(sync_of_all, permit, &request, NULL);
        break;
    case 2:
        (void)takt_sync_settle(sync_of_all, permit, &request, TAKT_USED(1));
        break;
    default:
        takt_sync_release(sync_of_all, permit);
        break;
    }
}

static int look_or_steer(uint64_t *random)
{
    const char *limit = names[takt_random_below(random, 5)];
    int64_t for_us = takt_random_below(random, 2000);
    takt_standing standing;
    takt_shadow shadow;

    switch (takt_random_below(random, 9)) {
    case 0:
        return takt_sync_watch(sync_of_all, limit, NULL, 1 + for_us, &standing);
    case 1:
        return takt_sync_block(sync_of_all, limit, NULL, for_us, "a test", &standing);
    case 2:
        return takt_sync_penalize(sync_of_all, limit, "k", for_us, NULL, NULL);
    case 3:
        return takt_sync_lower(sync_of_all, limit, "k", NULL, for_us, &standing);
    case 4:
        return takt_sync_unblock(sync_of_all, limit, NULL, NULL);
    case 5:
        return takt_sync_reset(sync_of_all, limit, NULL, NULL);
    case 6:
        return takt_sync_get_shadow(sync_of_all, limit, &shadow);
    case 7:
        return takt_sync_reload(sync_of_all, policies[takt_random_below(random, POLICIES)], NULL);
    default:
        return takt_sync_peek(sync_of_all, limit, NULL, &standing);
    }
}

static void *run_thread(void *argument)
{
    uint64_t random = first_seed + *(const uint64_t *)argument;
    takt_permit permit = {0};
    int status;

    for (int i = 0; i < STEPS; i++) {
        switch (takt_random_below(&random, 3)) {
        case 0:
            work(&random);
            break;
        case 1:
            share(&random);
            break;
        default:
            status = look_or_steer(&random);
            expect(status == 0 || status == TAKT_E_NO_LIMIT, "a call", status);
            break;
        }
    }
    atomic_fetch_add(&finished, 1);
    while ((status = takt_sync_acquire(sync_of_all, &permit, &TAKT_REQUEST("never"))) == 0)
        takt_sync_release(sync_of_all, &permit); /* there was a token */
    expect(status == TAKT_E_CANCELED, "who waits when it is closed", status);
    return NULL;
}

/* Until all threads wait, and no thread begins a call. */
static void await_waiters(void)
{
    takt_stats stats = {0};

    do
        (void)takt_sync_get_stats(sync_of_all, &stats);
    while (atomic_load(&finished) < THREADS || stats.waiting < THREADS);
}

static void run(const char *url)
{
    takt_options options = {.store = url, .store_timeout_us = 60000000};
    uint64_t numbers[THREADS];
    pthread_t threads[THREADS];
    takt_error error;

    memset(shared, 0, sizeof shared);
    atomic_store(&finished, 0);
    if (takt_sync_open(&sync_of_all, policies[0], &options, &error) < 0) {
        expect(false, error.text, error.code);
        return;
    }
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = (uint64_t)i;
        pthread_create(&threads[i], NULL, run_thread, &numbers[i]);
    }
    await_waiters();
    takt_sync_close(sync_of_all);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (atomic_load(&failures) > 0)
        printf("%s: %d failed\n", url, atomic_load(&failures));
}

int main(void)
{
    char directory[PATH_MAX], url[PATH_MAX + 32];
    struct server server;
    takt_error error;

    first_seed = test_seed(1);
    for (int i = 0; i < POLICIES; i++)
        if (takt_policy_parse(&policies[i], "p", texts[i], strlen(texts[i]), &error) < 0)
            expect(false, error.text, error.code);
    server_start(&server, NULL);
    rig_directory(directory);
    snprintf(url, sizeof url, "file:%s/l", directory);
    run("memory:");
    run(url);
    run(server.url);
    rig_remove(directory);
    server_stop(&server);
    for (int i = 0; i < POLICIES; i++)
        takt_policy_free(policies[i]);
    return atomic_load(&failures) > 0;
}
