/*
 * Programs behind a stand-in for an agent (stand_in.h), on one loop, and the work that they ask
 * for.
 */
#ifndef TAKT_TESTS_RELAY_PROGRAMS_H
#define TAKT_TESTS_RELAY_PROGRAMS_H

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "client/client.h"
#include "stand_in.h"
#include "store/redis/server.h"

#define PROGRAMS 3

/* A test with the agent's store in memory, and one with Redis: it begins and ends with *kind. */
#define EACH_STORE_OF(suite, test)                                                                 \
    ParameterizedTestParameters(suite, test)                                                       \
    {                                                                                              \
        return cr_make_param_array(int, kinds, KINDS);                                             \
    }                                                                                              \
    ParameterizedTest(const int *kind, suite, test, .timeout = 90)

enum { MEMORY, REDIS, KINDS };
static int kinds[] = {MEMORY, REDIS};

static uv_loop_t loop;
static stand_in agent;
static struct server server;
static takt_policy *policy;                     /* of the programs */
static takt_policy *next_policy, *agent_policy; /* those that a test makes, freed at its end */
static takt_client *clients[PROGRAMS];
static unsigned events[PROGRAMS];
static int closed, callbacks;

typedef struct job {
    takt_permit permit;
    int calls, status;
} job;

static inline void on_event(takt_client *client, const takt_event *event, void *data)
{
    (void)client;
    events[(takt_client **)data - clients] |= 1U << event->type;
}

static inline takt_policy *parse(const char *yaml)
{
    takt_policy *parsed = NULL;
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&parsed, "p", yaml, strlen(yaml), &error), 0, "%s", error.text);
    return parsed;
}

static inline void open_with(const char *yaml, const char *store)
{
    cr_assert_eq(uv_loop_init(&loop), 0);
    stand_in_open(&agent, &loop, store);
    policy = parse(yaml);
    for (int i = 0; i < PROGRAMS; i++) {
        takt_options options = {.store = agent.url, .on_event = on_event, .data = &clients[i]};
        takt_error error;
        cr_assert_eq(takt_open(&clients[i], &loop, policy, &options, &error), 0, "%s", error.text);
    }
}

static inline void begin_with(int kind, const char *yaml)
{
    if (kind == REDIS)
        server_start(&server, NULL);
    open_with(yaml, kind == REDIS ? server.url : "memory:");
}

static inline void count_closed(void *data)
{
    (void)data;
    closed++;
}

static inline void close_client(int program)
{
    int before = closed;

    takt_close(clients[program], count_closed, NULL);
    clients[program] = NULL;
    while (closed == before)
        uv_run(&loop, UV_RUN_ONCE);
}

static inline void close_all(void)
{
    for (int i = 0; i < PROGRAMS; i++)
        if (clients[i])
            close_client(i);
    stand_in_close(&agent);
    cr_assert_eq(uv_loop_close(&loop), 0);
    takt_policy_free(policy);
    takt_policy_free(next_policy);
    takt_policy_free(agent_policy);
}

static inline void end(int kind)
{
    close_all();
    if (kind == REDIS)
        server_stop(&server);
}

static inline void note(takt_permit *permit, int status)
{
    job *done = permit->data;

    done->calls++;
    done->status = status;
    callbacks++;
}

static inline void ask_for(int program, const char *limit, const char *key, const char *tenant,
                           job *of)
{
    takt_request request = TAKT_REQUEST(limit);

    request.key = key;
    request.tenant = tenant;
    of->permit.data = of;
    of->calls = 0;
    cr_assert_eq(takt_acquire(clients[program], &of->permit, &request, note), 0);
}

static inline void ask(int program, const char *limit, const char *key, job *of)
{
    ask_for(program, limit, key, NULL, of);
}

static inline void run_until(int count)
{
    while (callbacks < count)
        uv_run(&loop, UV_RUN_ONCE);
}

static inline void wait_for(const job *of)
{
    while (of->calls == 0)
        uv_run(&loop, UV_RUN_ONCE);
}

static inline void look_around(void)
{
    for (int i = 0; i < 200; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
}

static bool answered;
static int call_status;
static takt_standing told;

static inline void take_answer(takt_call *call, int status, const takt_standing *standing)
{
    (void)call;
    answered = true;
    call_status = status;
    told = standing ? *standing : (takt_standing){0};
}

static inline void finish(int code)
{
    cr_assert_eq(code, 0);
    for (answered = false; !answered;)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(call_status, 0);
}

#endif
