/*
 * any_world.c: stores, policies, loops and clients that are opened and closed, and faults of a
 * server.
 */
#include "any/any.h"

#include <signal.h>
#include <string.h>
#include <takt/stored_policy.h>

#include "store/rig.h"

world here;
struct server server;

/* Those that the model checks come first; every `within` is the same in all policies. */
const limit_known limits[] = {
    {"free", -1, 0, false},   {"quick", -1, 0, false},     {"strict", -1, 0, false},
    {"calm", 2, 0, false},    {"never", -1, 0, false},     {"slow", -1, 0, false},
    {"two", -1, 2, false},    {"three", -1, 3, false},     {"level3", -1, 2, false},
    {"level2", 8, 0, true},   {"level1", 9, 2, false},     {"log", -1, 0, false},
    {"window", -1, 0, false}, {"weighted", -1, 0, false},  {"bucket", -1, 0, false},
    {"hurt", -1, 0, false},   {"open", -1, 0, false},      {"closed", -1, 0, false},
    {"share", -1, 0, false},  {"lowest", -1, 0, false},    {"shade", -1, 0, true},
    {"shade_in", 6, 0, true}, {"shade_out", 20, 1, false}, {"changing", -1, 0, true},
    {"dim", 2, 0, true},      {"dimmer", 24, 0, true},     {"dimmed", 25, 0, false},
};
const int limit_count = sizeof limits / sizeof limits[0];

/* What all policies have. */
#define COMMON                                                                                     \
    "limits:\n"                                                                                    \
    "  - {name: strict, rules: [{rate: 500/s, burst: 3}]}\n"                                       \
    "  - {name: calm, rules: [{rate: 1000/s, burst: 9}], within: strict}\n"                        \
    "  - {name: level1, concurrency: 2, within: level2}\n"                                         \
    "  - {name: level3, concurrency: 2}\n"                                                         \
    "  - {name: shade_in, mode: shadow, rules: [{rate: 100/s}], within: two}\n"                    \
    "  - {name: shade_out, concurrency: 1, within: shade}\n"                                       \
    "  - {name: dim, mode: shadow, rules: [{rate: 100/s, burst: 9}], within: strict}\n"            \
    "  - {name: dimmer, mode: shadow, concurrency: 3, within: dim}\n"                              \
    "  - {name: dimmed, rules: [{rate: 1000/s, burst: 9}], within: dimmer}\n"

static const char *const texts[POLICIES] = {
    "revision: 1\n" COMMON "  - {name: open, on_store_failure: open, rules: [{rate: 1000/s}]}\n"
    "  - {name: closed, on_store_failure: closed, concurrency: 5}\n"
    "  - {name: share, on_store_failure: share, rules: [{rate: 1000/s, burst: 9}]}\n"
    "  - {name: free, rules: [{rate: 1000000000/s, burst: 1000000000}]}\n"
    "  - {name: quick, rules: [{rate: 2000/s, burst: 5}]}\n"
    "  - {name: never, rules: [{rate: 1/18250day}]}\n"
    "  - {name: slow, rules: [{rate: 1/h}], max_waiting: 4, when_full: drop-oldest}\n"
    "  - {name: two, concurrency: 2}\n"
    "  - {name: three, concurrency: 3, rules: [{rate: 2000/s, burst: 9}]}\n"
    "  - {name: level2, concurrency: 3, rules: [{rate: 3000/s, burst: 4}], within: level3}\n"
    "  - {name: log, rules: [{rate: 300/s, algorithm: sliding-log}]}\n"
    "  - {name: window, rules: [{rate: 30/100ms, algorithm: fixed-window, align: first-use}]}\n"
    "  - {name: weighted, rules: [{rate: 30/100ms, algorithm: sliding-window}]}\n"
    "  - {name: bucket, rules: [{rate: 1000/s, algorithm: leaky-bucket, queue: 5}]}\n"
    "  - {name: hurt, rules: [{rate: 2000/s, burst: 4}], adapt: {}}\n"
    "  - {name: lowest, rules: [{rate: 1/h}], max_waiting: 3, when_full: drop-lowest}\n"
    "  - {name: shade, mode: shadow, concurrency: 1, rules: [{rate: 100/s, burst: 2}]}\n"
    "  - {name: changing, mode: shadow, rules: [{rate: 1/h}]}\n",
    "revision: 2\n" COMMON "  - {name: free, rules: [{rate: 1000000/s, burst: 9}]}\n"
    "  - {name: quick, rules: [{rate: 200/s, burst: 2}]}\n"
    "  - {name: two, concurrency: 1}\n"
    "  - {name: three, concurrency: 2, lease: 20s}\n"
    "  - {name: level2, concurrency: 1, within: level3}\n"
    "  - {name: log, rules: [{rate: 3/10ms}, {rate: 2000/s, algorithm: sliding-log}]}\n"
    "  - {name: changing, concurrency: 2, rules: [{rate: 3000/s}]}\n"
    "  - {name: shade, mode: shadow, concurrency: 2}\n",
    "revision: 1\n" COMMON "  - {name: two, concurrency: 2, lookahead: 1ms}\n"
    "  - {name: level2, mode: shadow, concurrency: 3, within: level3}\n"
    "  - {name: never, rules: [{rate: 1000000000/us, burst: 1000000000}]}\n"
    "  - {name: changing, rules: [{rate: 5/h, burst: 5}], when_full: drop-lowest, max_waiting: 2}\n"
    "  - {name: hurt, rules: [{rate: 2000/s, burst: 4}], on_store_failure: closed}\n"
    "  - {name: shade, mode: shadow, rules: [{rate: 1/h}]}\n",
};

int limit_named(const char *name)
{
    int at = 0;

    while (strcmp(limits[at].name, name) != 0)
        at++;
    return at;
}

/* ---- clients --------------------------------------------------------------------------------- */

static void on_event(takt_client *client, const takt_event *event, void *data)
{
    party *of = data;

    MUST(!of->client || client == of->client, "an event of another client");
    MUST(event->text && event->text[0], "an event without words");
    if (event->type == TAKT_EVENT_PERMIT_LOST)
        job_lost(event->permit);
    do_within_callback();
}

static void on_closed(void *data)
{
    party *of = data;

    MUST(of->closing && of->closed++ == 0, "closed twice");
    MUST(of->waiting == 0, "closed while %d wait", (int)of->waiting);
    job_forget(of);
    *of = (party){.client = NULL};
    do_within_callback();
}

void party_open(party *of)
{
    bool hasty = here.kind == NOWHERE || one_in(9); /* answers come soon */
    takt_options options = {.store = here.url,
                            .name_space = here.name_space,
                            .on_event = on_event,
                            .data = of,
                            .store_timeout_us = hasty ? 1 + below(20000) : 30000000};
    takt_error error;

    const takt_policy *policy = here.policies[below(POLICIES)];
    int code;

    if (of->client)
        return;
    if (here.follower && one_in(3))
        policy = here.follower;
    *of = (party){.loop = &here.loops[below(LOOPS)]};
    code = takt_open(&of->client, of->loop, policy, &options, &error);
    if (code == 0)
        return;
    MUST(policy == here.follower && of->client == NULL, "%s", error.text);
    uv_run(of->loop, UV_RUN_NOWAIT); /* what a failed opening has left to close */
}

void party_close(party *of)
{
    if (!of->client)
        return;
    if (!of->closing)
        job_given_back(of);
    of->closing = true;
    takt_close(of->client, on_closed, of);
}

party *any_party(void)
{
    party *of = &here.parties[below(PARTIES)];

    return of->client && !of->closing ? of : NULL;
}

void do_reload(party *of)
{
    takt_error error;

    MUST(takt_reload(of->client, here.policies[below(POLICIES)], &error) == 0, "%s", error.text);
}

/* Stores another policy, for the clients that follow it. */
void do_apply(void)
{
    takt_options options = {.store = here.url, .name_space = here.name_space};
    const takt_policy *policy = here.policies[below(POLICIES)];
    takt_stored_policy *stored;
    int64_t version;

    if (!here.follower || takt_stored_policy_read(&stored, policy, &options, NULL) < 0)
        return;
    (void)takt_stored_policy_apply(stored, policy, "any", &options, &version,
                                   NULL); /* or it is an older one */
    takt_stored_policy_free(stored);
}

/* ---- loops ----------------------------------------------------------------------------------- */

void run_loops(void)
{
    for (int i = 0; i < LOOPS; i++)
        uv_run(&here.loops[i], UV_RUN_NOWAIT);
    for (int i = 0; i < PARTIES; i++)
        check_party(&here.parties[i]);
}

static void on_timer(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

/* Runs the loops until a timer of ours has fired. */
void await_a_while(void)
{
    bool over = false;
    uv_timer_t timer = {.data = &over};

    uv_timer_init(&here.loops[0], &timer);
    uv_update_time(&here.loops[0]);
    uv_timer_start(&timer, on_timer, 1 + (uint64_t)below(3), 0);
    while (!over) {
        uv_run(&here.loops[1], UV_RUN_NOWAIT);
        uv_run(&here.loops[0], UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&here.loops[0], UV_RUN_NOWAIT);
}

/* ---- what befalls the server ----------------------------------------------------------------- */

void do_fault(void)
{
    if (here.kind != REDIS)
        return;
    switch (below(8)) {
    case 0:
        here.lossy = true;
        server_restart(&server, NULL);
        break;
    case 1:
        here.lossy = true;
        server_say(&server, "FLUSHALL");
        break;
    case 2:
        kill(server.process, SIGSTOP);
        await_a_while();
        kill(server.process, SIGCONT);
        break;
    case 3:
        server_say(&server, "SCRIPT FLUSH");
        break;
    case 4:
        server_say(&server, "CLIENT PAUSE 5");
        break;
    default:
        server_say(&server, one_in(2) ? "CLIENT KILL TYPE normal" : "CLIENT KILL TYPE pubsub");
        break;
    }
}

/* ---- from begin to end ----------------------------------------------------------------------- */

static void name_store(void)
{
    static const char *const nowhere[] = {"unix:/tmp/takt-no-such-socket", "redis://127.0.0.1:1",
                                          "redis://localhost:1"};

    if (here.kind == MEMORY)
        snprintf(here.url, sizeof here.url, "memory:");
    else if (here.kind == SHARED_MEMORY)
        snprintf(here.url, sizeof here.url, "memory:any");
    else if (here.kind == FILE_STORE)
        snprintf(here.url, sizeof here.url, "file:%s/ledgers.mdb", here.directory);
    else
        snprintf(here.url, sizeof here.url, "%s",
                 here.kind == REDIS ? server.url : nowhere[below(3)]);
    here.lossy = here.kind == MEMORY || here.kind == NOWHERE; /* no ledger that all share */
}

void world_begin(uint64_t seed, store_kind kind)
{
    static int number;
    takt_error error;

    memset(&here, 0, sizeof here);
    here.seed = here.random = seed;
    here.kind = kind;
    rig_directory(here.directory);
    snprintf(here.name_space, sizeof here.name_space, "any-%d", number++);
    name_store();
    for (int i = 0; i < LOOPS; i++)
        uv_loop_init(&here.loops[i]);
    for (int i = 0; i < POLICIES; i++)
        MUST(takt_policy_parse(&here.policies[i], "p", texts[i], strlen(texts[i]), &error) == 0,
             "%s", error.text);
    party_open(&here.parties[0]);
    if (kind == MEMORY || kind == NOWHERE)
        return;
    MUST(takt_policy_parse(&here.follower, "p", "policy: store", 13, &error) == 0, "%s",
         error.text);
    do_apply();
}

/* Without waiters and permits a client does not keep its loop alive. */
static void check_loops_end(void)
{
    for (int i = 0; i < LOOPS; i++)
        uv_run(&here.loops[i], UV_RUN_DEFAULT);
}

/* What the ledgers tell to somebody else, once all is given back. */
typedef struct look {
    takt_call call;
    bool answered;
    bool at_rest;
    int64_t waiting, held;
} look;

static void looked(takt_call *call, int status, const takt_standing *standing)
{
    look *of = call->data;

    of->answered = true;
    of->at_rest = status == TAKT_E_NO_LIMIT ||
                  (standing && standing->waiting == 0 && standing->workers == 0 &&
                   standing->held == 0 && standing->holders == 0);
    of->waiting = standing ? standing->waiting : -1;
    of->held = standing ? standing->held : -1;
}

/* Good-byes take their time, and where they were lost, as long as a lease. */
static void check_ledger(party *by, const char *limit, const char *key)
{
    look at = {.call.data = &at};
    int64_t since = (int64_t)uv_hrtime();

    while (!at.at_rest) {
        at.answered = false;
        if (takt_peek(by->client, &at.call, limit, key, looked) != 0)
            return;
        while (!at.answered)
            run_loops();
        MUST((int64_t)uv_hrtime() - since < 40000000000, "%s: %d wait, %d held", limit,
             (int)at.waiting, (int)at.held);
    }
}

/* There are no waiters and no held permits, in this process and in the ledgers. */
static void settle_down(void)
{
    for (int i = 0; i < JOBS; i++) {
        if (!here.jobs[i])
            continue;
        if (one_in(2) && takt_cancel(&here.jobs[i]->permit) == 0)
            here.jobs[i]->cancelled = true;
        else
            job_release(here.jobs[i]);
    }
    while (calls_wait() || jobs_wait())
        run_loops();
    for (int i = 0; i < JOBS; i++)
        if (here.jobs[i])
            job_release(here.jobs[i]);
    check_loops_end();
}

void world_end(void)
{
    party *last = &here.parties[0];
    bool anew;

    here.ending = true;
    settle_down();
    for (int i = 1; i < PARTIES; i++)
        party_close(&here.parties[i]);
    anew = one_in(2) || !last->client || last->closing;
    if (anew)
        party_close(last);
    check_loops_end();
    while (!last->client)
        party_open(last);
    for (int i = 0; i < limit_count && !here.lossy; i++)
        for (int key = 0; key < KEYS && (anew || !limits[i].shadow); key++) /* ghosts may wait */
            check_ledger(last, limits[i].name, job_key(key));
    party_close(last);
    for (int i = 0; i < LOOPS; i++) {
        MUST(uv_run(&here.loops[i], UV_RUN_DEFAULT) == 0, "a loop goes on");
        MUST(uv_loop_close(&here.loops[i]) == 0, "a handle was left open");
    }
    check_slots();
    for (int i = 0; i < POLICIES; i++)
        takt_policy_free(here.policies[i]);
    takt_policy_free(here.follower);
    for (int i = 0; i < JOBS; i++)
        free(here.jobs[i]);
    rig_remove(here.directory);
}
