/*
 * More waiters than max_waiting, in several clients over every kind of store: a dropped waiter
 * fails at once, whichever client caused it.  Each limit has a twin that is within another one, so
 * that its work is nested.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <takt/takt.h>
#include <unistd.h>
#include <uv.h>

#include "client/stores.h"

#define CLIENTS 4   /* a new waiter is in no line yet, and claims at once */
#define MOST    2   /* may wait */
#define ROUNDS  400 /* without wake-ups each takes half a keepalive, and the test's time is over */

#define NESTED (REDIS + 1) /* added to a kind of store: the limits are nested */

static uv_loop_t loop;
static takt_policy *policy;
static takt_client *clients[CLIENTS];
static bool nested;
static int statuses[ROUNDS + MOST + 1], told;
static takt_permit permits[ROUNDS + MOST + 1];

static void open_world(int kind)
{
    static const char text[] = "limits:\n"
                               "  - name: oldest\n"
                               "    rules: [{rate: 1/h}]\n"
                               "    max_waiting: 2\n"
                               "    when_full: drop-oldest\n"
                               "  - name: lowest\n"
                               "    rules: [{rate: 1/h}]\n"
                               "    max_waiting: 2\n"
                               "    when_full: drop-lowest\n"
                               "  - name: refuse\n"
                               "    rules: [{rate: 1/h}]\n"
                               "    max_waiting: 2\n"
                               "  - name: one\n"
                               "    concurrency: 1\n"
                               "    max_waiting: 1\n"
                               "  - name: all\n"
                               "    rules: [{rate: 1000/s, burst: 1000}]\n"
                               "  - name: oldest-within\n"
                               "    rules: [{rate: 1/h}]\n"
                               "    max_waiting: 2\n"
                               "    when_full: drop-oldest\n"
                               "    within: all\n"
                               "  - name: lowest-within\n"
                               "    rules: [{rate: 1/h}]\n"
                               "    max_waiting: 2\n"
                               "    when_full: drop-lowest\n"
                               "    within: all\n"
                               "  - name: refuse-within\n"
                               "    rules: [{rate: 1/h}]\n"
                               "    max_waiting: 2\n"
                               "    within: all\n"
                               "  - name: one-within\n"
                               "    concurrency: 1\n"
                               "    max_waiting: 1\n"
                               "    within: all\n"
                               "  - name: account-within\n"
                               "    rules: [{rate: 1/h}]\n"
                               "    max_waiting: 2\n"
                               "    when_full: drop-oldest\n"
                               "    within: domain-within\n"
                               "  - name: domain-within\n"
                               "    rules: [{rate: 1000/s, burst: 1000}]\n"
                               "    max_waiting: 3\n"
                               "    within: all\n";
    const char *url = open_store(kind % NESTED);
    takt_error error;

    nested = kind >= NESTED;
    uv_loop_init(&loop);
    cr_assert_eq(takt_policy_parse(&policy, "test", text, strlen(text), &error), 0, "%s",
                 error.text);
    for (int i = 0; i < CLIENTS; i++) {
        takt_options options = {.store = url, .store_timeout_us = 60000000};
        cr_assert_eq(takt_open(&clients[i], &loop, policy, &options, &error), 0, "%s", error.text);
    }
}

static void close_world(int kind)
{
    for (int i = 0; i < CLIENTS; i++)
        takt_close(clients[i], NULL, NULL);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
    takt_policy_free(policy);
    close_store(kind % NESTED);
}

static void note(takt_permit *permit, int status)
{
    statuses[permit - permits] = status;
    told++;
}

static const char *name_of(const char *limit)
{
    static char name[32];

    snprintf(name, sizeof name, "%s%s", limit, nested ? "-within" : "");
    return name;
}

static void ask_of(int i, const char *limit, const char *key, int priority)
{
    takt_request request = TAKT_REQUEST(name_of(limit));

    statuses[i] = 1;
    request.key = key;
    request.priority = priority;
    cr_assert_eq(takt_acquire(clients[i % CLIENTS], &permits[i], &request, note), 0);
}

static void ask(int i, const char *limit, int priority)
{
    ask_of(i, limit, NULL, priority);
}

static void hear(int count)
{
    while (told < count)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(told, count);
}

static void note_standing(takt_call *call, int status, const takt_standing *standing)
{
    cr_assert_eq(status, 0);
    *(int64_t *)call->data = standing->waiting;
}

/* Until the store has their claims. */
static void await(const char *limit, int64_t waiting)
{
    int64_t seen = -1;

    while (seen != waiting) {
        takt_call call = {.data = &seen};
        seen = -1;
        cr_assert_eq(takt_peek(clients[0], &call, name_of(limit), NULL, note_standing), 0);
        while (seen < 0)
            uv_run(&loop, UV_RUN_ONCE);
    }
}

static int kinds[] = {MEMORY,          STORE_FILE,          REDIS,
                      NESTED + MEMORY, NESTED + STORE_FILE, NESTED + REDIS};

#define EACH_STORE(test)                                                                           \
    ParameterizedTestParameters(overflow, test)                                                    \
    {                                                                                              \
        return cr_make_param_array(int, kinds, sizeof kinds / sizeof kinds[0]);                    \
    }                                                                                              \
    ParameterizedTest(const int *kind, overflow, test, .timeout = 150)

EACH_STORE(the_oldest_makes_way_and_hears_of_it)
{
    open_world(*kind);
    for (int i = 0; i <= MOST; i++) {
        ask(i, "oldest", 5);
        if (i == 0)
            hear(1);
        await("oldest", i);
    }
    for (int i = 0; i < ROUNDS; i++) {
        ask(i + MOST + 1, "oldest", 5);
        hear(i + 2);
        cr_assert_eq(statuses[i + 1], TAKT_E_FULL, "round %d: %d", i, statuses[i + 1]);
        await("oldest", MOST);
    }
    close_world(*kind);
}

EACH_STORE(only_the_less_urgent_makes_way)
{
    open_world(*kind);
    ask(0, "lowest", 5);
    hear(1);
    ask(1, "lowest", 5);
    ask(2, "lowest", 7);
    await("lowest", 2);
    ask(3, "lowest", 7);
    hear(2);
    cr_assert_eq(statuses[3], TAKT_E_FULL, "nobody is less urgent than it is");
    ask(4, "lowest", 6);
    hear(3);
    cr_assert_eq(statuses[2], TAKT_E_FULL);
    cr_assert_eq(statuses[1], 1, "it waits on");
    cr_assert_eq(statuses[4], 1);
    close_world(*kind);
}

EACH_STORE(whoever_comes_is_refused_however_urgent)
{
    open_world(*kind);
    ask(0, "refuse", 5);
    hear(1);
    ask(1, "refuse", 7);
    ask(2, "refuse", 7);
    await("refuse", 2);
    for (int i = 0; i < ROUNDS; i++) {
        ask(i + MOST + 1, "refuse", 0);
        hear(i + 2);
        cr_assert_eq(statuses[i + MOST + 1], TAKT_E_FULL, "round %d", i);
    }
    cr_assert_eq(statuses[1] + statuses[2], 2, "they were accepted, and wait on");
    close_world(*kind);
}

EACH_STORE(of_three_that_come_together_the_last_is_refused)
{
    open_world(*kind);
    for (int i = 0; i < 3; i++)
        ask(CLIENTS * i, "one", 5); /* all of one client */
    hear(2);
    cr_assert_eq(statuses[0], 0);
    cr_assert_eq(statuses[2 * CLIENTS], TAKT_E_FULL);
    ask(1, "one", 0);
    hear(3);
    cr_assert_eq(statuses[1], TAKT_E_FULL, "of another client, which is more urgent");
    takt_release(&permits[0]);
    hear(4);
    cr_assert_eq(statuses[CLIENTS], 0);
    close_world(*kind);
}

static int nested_kinds[] = {NESTED + MEMORY, NESTED + STORE_FILE, NESTED + REDIS};

ParameterizedTestParameters(overflow, each_level_has_its_own_way)
{
    return cr_make_param_array(int, nested_kinds, sizeof nested_kinds / sizeof nested_kinds[0]);
}

/* An account drops its oldest; the domain of both accounts refuses, and does so first. */
ParameterizedTest(const int *kind, overflow, each_level_has_its_own_way, .timeout = 150)
{
    open_world(*kind);
    ask_of(0, "account", "a", 5);
    ask_of(1, "account", "b", 5);
    hear(2);
    ask_of(2, "account", "a", 5);
    await("domain", 1);
    ask_of(3, "account", "a", 5);
    ask_of(4, "account", "b", 5);
    await("domain", 3);
    ask_of(5, "account", "b", 5);
    hear(3);
    cr_assert_eq(statuses[5], TAKT_E_FULL, "the domain is full");
    ask_of(6, "account", "a", 5);
    hear(4);
    cr_assert_eq(statuses[6], TAKT_E_FULL, "so that the account has none to drop");
    takt_cancel(&permits[4]);
    hear(5);
    await("domain", 2);
    ask_of(7, "account", "a", 5);
    hear(6);
    cr_assert_eq(statuses[2], TAKT_E_FULL, "the account's oldest");
    await("domain", 2);
    cr_assert_eq(statuses[3], 1);
    cr_assert_eq(statuses[7], 1);
    close_world(*kind);
}
