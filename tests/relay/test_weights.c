/*
 * An agent's programs and a worker of its own share a limit over a real server: each process gets a
 * share.  Slots are counted, and no time is measured.
 */
#include <inttypes.h>

#include "client/client.h"
#include "relay/stand_in.h"
#include "store/redis/server.h"

#define PROGRAMS 8
#define WAITERS  40 /* of each client: more than its share of two lookaheads */

enum { BEFORE = 500, COUNTED = 2000 }; /* slots until all are in line, and that are looked at */

static uv_loop_t loop;
static struct server server;
static stand_in agent;
static takt_policy *policy;

typedef struct program {
    takt_client *client;
    takt_permit permits[WAITERS];
    int64_t slots; /* that are counted */
    bool closed;
} program;

static program programs[PROGRAMS + 1]; /* the last one is the worker */
static int64_t all;
static const char *limit;

static void granted(takt_permit *permit, int status);

static void ask(program *of, takt_permit *permit)
{
    takt_request request = TAKT_REQUEST(limit);

    permit->data = of;
    cr_assert_eq(takt_acquire(of->client, permit, &request, granted), 0);
}

static void granted(takt_permit *permit, int status)
{
    program *of = permit->data;

    if (status == TAKT_E_CANCELED)
        return;
    cr_assert_eq(status, 0);
    of->slots += all >= BEFORE && all < BEFORE + COUNTED;
    all++;
    takt_release(permit);
    ask(of, permit);
}

static void open_program(program *of, const char *store)
{
    takt_options options = {.store = store};
    takt_error error;

    *of = (program){0};
    cr_assert_eq(takt_open(&of->client, &loop, policy, &options, &error), 0, "%s", error.text);
    for (int i = 0; i < WAITERS; i++)
        ask(of, &of->permits[i]);
}

static void note_closed(void *data)
{
    ((program *)data)->closed = true;
}

static void begin(void)
{
    takt_rule_text rule = {.rate = "1000/s", .burst = "1"}, twice = {.rate = "2000/s"};
    takt_limit_text limits[] = {
        {.name = "api", .lookahead = "100ms", .rules = &rule, .rule_count = 1},
        {.name = "inner", .lookahead = "100ms", .rules = &rule, .rule_count = 1, .within = "outer"},
        {.name = "outer", .lookahead = "100ms", .rules = &twice, .rule_count = 1}};
    takt_error error;

    server_start(&server, NULL);
    cr_assert_eq(uv_loop_init(&loop), 0);
    stand_in_open(&agent, &loop, server.url);
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(takt_policy_add(policy, &limits[i], &error), 0, "%s", error.text);
    all = 0;
}

static void end(void)
{
    for (int i = 0; i <= PROGRAMS; i++)
        takt_close(programs[i].client, note_closed, &programs[i]);
    for (int i = 0; i <= PROGRAMS; i++)
        while (!programs[i].closed)
            uv_run(&loop, UV_RUN_ONCE);
    stand_in_close(&agent);
    cr_assert_eq(uv_loop_close(&loop), 0);
    takt_policy_free(policy);
    server_stop(&server);
}

TestSuite(weights, .init = begin, .fini = end, .timeout = 60);

/* The number of processes that the agent claims for. */
static int64_t weight_of_agent(void)
{
    const takt_table *queues = &agent.client->scheduler.queues;
    int64_t weight = 0;

    for (size_t i = 0; i < queues->used; i++)
        for (takt_entry *entry = queues->buckets[i]; entry; entry = entry->next)
            weight += TAKT_HOLDER(entry, takt_queue, registry.entry)->weight;
    return weight;
}

/* A ninth each.  On a busy machine they differ; tests/fleet/hosts.c has the figures. */
static void expect_shares(const char *of)
{
    limit = of;
    for (int i = 0; i < PROGRAMS; i++)
        open_program(&programs[i], agent.url);
    open_program(&programs[PROGRAMS], server.url);
    while (all < BEFORE + COUNTED || weight_of_agent() != PROGRAMS)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i <= PROGRAMS; i++)
        cr_expect_gt(programs[i].slots, COUNTED / 40, "%s %d: %" PRId64 " of %d",
                     i < PROGRAMS ? "program" : "worker", i, programs[i].slots, COUNTED);
}

Test(weights, eight_programs_behind_an_agent_get_eight_shares_beside_one_worker)
{
    expect_shares("api");
}

Test(weights, and_of_an_inner_limit)
{
    expect_shares("inner");
}
