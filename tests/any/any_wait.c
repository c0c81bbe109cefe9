/*
 * any_wait.c: everything that waits starts, or fails as its policy says, whatever clients of one
 * store do before: a plain program, so that every sanitizer can follow it.
 *
 * Each seed is a world of one loop, one store and up to four clients, some of which may use an
 * agent. Their policies have one to three limits within each other. Work is acquired, tried,
 * cancelled, released and settled; ledgers are blocked, penalized and reset; clients get other
 * policies, are closed and opened again, also from inside the callbacks. Then everything is
 * released and all blocks end. What still waits has to start, with the last policies. In the end
 * the queues of the clients and the ledgers have no waiters and no held permits.
 *
 * any_wait [SEEDS [PATIENCE_S]]: so many seeds from TAKT_SEED on; exit status 0: all checks
 * passed. A world fails if nothing starts for that long although work waits, or if workers claim
 * again and again meanwhile. A small patience finds work that starts only because its worker claims
 * again after a keepalive.
 */
#include "any/wait.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/run.h"
#include "base/random.h"
#include "client/client.h"
#include "faults/proxy.h"
#include "scheduler/turns.h"
#include "seed.h"
#include "store/redis/server.h"
#include "store/rig.h"

enum { SEEDS = 12, STEPS = 300, PATIENCE_S = 100, CALLS_MAX = 2000 };

/* No call fails because the host is busy. */
#define STORE_TIMEOUT_US INT64_C(100000000)

typedef struct party {
    takt_client *client; /* NULL: there is none */
    const plan *plan;
    bool closing;
    int waiting;
} party;

typedef enum phase { AT_REST, WAITING, TRYING, GRANTED } phase;

typedef struct job {
    takt_permit permit;
    takt_call call; /* for a try */
    phase phase;
    party *party; /* of the last acquire */
    takt_request request;
    int keys[LEVELS]; /* of its limit and those around; -1: it does not pass that one */
    bool cancelled, settled;
    bool counted; /* among the holders of its limits */
} job;

static struct {
    uint64_t seed, random;
    store_kind kind;
    bool steady; /* all clients have one policy, from the beginning to the end */
    bool ending; /* nothing new is begun */
    int depth;   /* callbacks that we are in */
    char name_space[32], directory[PATH_MAX], store[PATH_MAX + 64], agent[PATH_MAX + 64];
    pid_t agent_process; /* 0: there is none */
    uv_loop_t loop;
    uv_timer_t tick; /* the loop turns at least so often */
    plan *plans;
    takt_policy *looking;
    takt_client *observer;
    party parties[PARTIES];
    int party_count;
    job jobs[JOBS];
    takt_call calls[CALLS];
    bool called[CALLS];                /* which of them are under way */
    int held[LEVELS][KEYS];            /* by limits and keys */
    int64_t moved_at_ns;               /* when something has started or ended last */
    int64_t counted_at_ns, calls_then; /* the calls to the store at that moment */
} here;
static struct server server;
static struct proxy proxy;
static int patience_s = PATIENCE_S;

int64_t below(int64_t limit)
{
    return takt_random_below(&here.random, limit);
}

bool one_in(int64_t n)
{
    return below(n) == 0;
}

static void show(void)
{
    static const char *const phases[] = {"rests", "waits", "tries", "runs"};

    for (const plan *at = here.plans; at; at = at->next)
        fprintf(stderr, "%s\n", at->text);
    for (int i = 0; i < here.party_count; i++)
        if (here.parties[i].client)
            fprintf(stderr, "client %d%s: revision %d, %d wait\n", i,
                    here.parties[i].closing ? ", closing" : "",
                    atoi(here.parties[i].plan->text + 10), here.parties[i].waiting);
    for (int i = 0; i < JOBS; i++) {
        const job *at = &here.jobs[i];
        if (at->phase != AT_REST)
            fprintf(stderr, "job %d of client %d %s: %s, keys %d %d %d, tenant %s%s\n", i,
                    (int)(at->party - here.parties), phases[at->phase], at->request.limit,
                    at->keys[0], at->keys[1], at->keys[2],
                    at->request.tenant ? at->request.tenant : "-",
                    at->cancelled ? ", cancelled" : "");
    }
}

void fail(const char *file, int line, const char *what, const char *format, ...)
{
    va_list values;

    show();
    va_start(values, format);
    fprintf(stderr, "%s:%d: %s: ", file, line, what);
    vfprintf(stderr, format, values);
    fprintf(stderr, "; try again with TAKT_SEED=%" PRIu64 " any_wait 1\n", here.seed);
    va_end(values);
    abort();
}

/* ---- time ------------------------------------------------------------------------------------ */

static void moved(void)
{
    here.moved_at_ns = (int64_t)uv_hrtime();
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
}

static void turn(void)
{
    uv_run(&here.loop, UV_RUN_NOWAIT);
}

static int64_t store_calls(void)
{
    int64_t sum = 0;
    takt_stats stats;

    for (int i = 0; i < here.party_count; i++)
        if (here.parties[i].client) {
            takt_get_stats(here.parties[i].client, &stats);
            sum += stats.store_calls;
        }
    return sum;
}

/* No worker claims again and again while nothing moves. */
static void check_calls(void)
{
    int64_t calls = store_calls();

    if (here.counted_at_ns != here.moved_at_ns || calls < here.calls_then) {
        here.counted_at_ns = here.moved_at_ns;
        here.calls_then = calls;
    }
    MUST(calls - here.calls_then < CALLS_MAX, "%d calls, and nothing moves",
         (int)(calls - here.calls_then));
}

/* Waits for an event.  Something has to move. */
static void await(const char *what)
{
    uv_run(&here.loop, UV_RUN_ONCE);
    check_calls();
    MUST((int64_t)uv_hrtime() - here.moved_at_ns < patience_s * INT64_C(1000000000), "%s", what);
}

static void await_a_while(void)
{
    uint64_t until_ns = uv_hrtime() + 1000000 * (uint64_t)(1 + below(5));

    while (uv_hrtime() < until_ns)
        uv_run(&here.loop, UV_RUN_ONCE);
}

/* ---- the model ------------------------------------------------------------------------------- */

static void count(job *of, int by)
{
    of->counted = by > 0;
    for (int i = 0; i < LEVELS; i++) {
        int most = here.steady && here.plans->has[i] ? here.plans->permits[i] : 0;
        if (of->keys[i] < 0)
            continue;
        here.held[i][of->keys[i]] += by;
        MUST(most == 0 || here.held[i][of->keys[i]] <= most, "%s: %d hold permits of %d",
             level_names[i], here.held[i][of->keys[i]], most);
    }
}

static void do_within_callback(void);

static void job_end(job *of)
{
    if (of->counted)
        count(of, -1);
    of->phase = AT_REST;
}

static void job_release(job *of)
{
    if (of->phase == TRYING)
        return;
    if (of->phase == WAITING)
        of->party->waiting--;
    takt_release(&of->permit);
    job_end(of);
}

static void answered(job *of, int status)
{
    bool permitted = status == 0 || status == TAKT_E_CANCELED || status == TAKT_E_NO_SLOT ||
                     (status == TAKT_E_DEADLINE && of->request.max_wait_us > 0);

    moved();
    MUST(permitted || !here.steady || (status == TAKT_E_FULL && here.plans->bounded), "%s",
         takt_strerror(status));
    MUST(permitted || status == TAKT_E_FULL || status == TAKT_E_COST || status == TAKT_E_LEASE,
         "%s", takt_strerror(status));
    of->phase = status == 0 ? GRANTED : AT_REST;
    if (status == 0)
        count(of, 1);
    if (here.ending && status == 0)
        job_release(of);
    do_within_callback();
}

static void acquired(takt_permit *permit, int status)
{
    job *of = permit->data;

    MUST(of->phase == WAITING, "a callback that nobody waits for");
    MUST(status != TAKT_E_CANCELED || of->cancelled || of->party->closing, "cancelled by nobody");
    of->party->waiting--;
    answered(of, status);
}

static void tried(takt_call *call, int status, const takt_standing *standing)
{
    job *of = call->data;

    (void)standing;
    MUST(of->phase == TRYING, "an answer that nobody waits for");
    answered(of, status);
}

static void on_event(takt_client *client, const takt_event *event, void *data)
{
    job *of = event->permit ? event->permit->data : NULL;

    (void)client, (void)data;
    if (event->type == TAKT_EVENT_POLICY_DIFFERS && !here.steady)
        return;
    MUST(event->type == TAKT_EVENT_PERMIT_LOST && !here.steady, "%s", event->text);
    if (of->counted)
        count(of, -1);
}

/* ---- clients --------------------------------------------------------------------------------- */

static const plan *any_plan(void)
{
    plan *made;

    if (here.plans && (here.steady || one_in(3)))
        return here.plans;
    made = plan_new();
    made->next = here.plans;
    here.plans = made;
    return made;
}

static void party_open(party *of)
{
    bool behind_agent = here.agent_process != 0 && !one_in(3);
    takt_options options = {.store = behind_agent ? here.agent : here.store,
                            .name_space = here.name_space,
                            .on_event = on_event,
                            .store_timeout_us = STORE_TIMEOUT_US};
    takt_error error;

    if (of->client)
        return;
    of->plan = any_plan();
    MUST(takt_open(&of->client, &here.loop, of->plan->policy, &options, &error) == 0, "%s",
         error.text);
}

static void on_closed(void *data)
{
    party *of = data;

    moved();
    MUST(of->waiting == 0, "closed while %d wait", of->waiting);
    for (int i = 0; i < JOBS; i++) {
        job *at = &here.jobs[i];
        if (at->party != of)
            continue;
        MUST(at->phase == AT_REST || at->phase == GRANTED, "closed without a callback");
        job_end(at);
        at->permit = (takt_permit){.data = at};
        at->party = NULL;
    }
    *of = (party){.client = NULL};
}

/* What its work holds is given back at once. */
static void party_close(party *of)
{
    if (!of->client || of->closing)
        return;
    for (int i = 0; i < JOBS; i++)
        if (here.jobs[i].party == of && here.jobs[i].counted)
            count(&here.jobs[i], -1);
    of->closing = true;
    takt_close(of->client, on_closed, of);
}

static party *any_party(void)
{
    party *of = &here.parties[below(here.party_count)];

    return of->client && !of->closing ? of : NULL;
}

static void party_reload(party *of, const plan *to)
{
    takt_error error;

    MUST(takt_reload(of->client, to->policy, &error) == 0, "%s", error.text);
    of->plan = to;
}

/* ---- acts ------------------------------------------------------------------------------------ */

static job *any_job(phase in)
{
    job *of = &here.jobs[below(JOBS)];

    return of->phase == in ? of : NULL;
}

static takt_request any_request(job *of, const plan *by)
{
    static const char *const tenants[] = {NULL, "acme", "beta"};
    int level = one_in(3) ? (int)below(LEVELS) : 0, outer = 0;
    takt_request request;

    while (!by->has[level])
        level = (level + 1) % LEVELS;
    request = TAKT_REQUEST(level_names[level]);
    for (int i = 0; i < LEVELS; i++) {
        of->keys[i] = i >= level && by->has[i] ? (int)below(KEYS) : -1;
        if (i == level)
            request.key = level_keys[of->keys[i]];
        else if (of->keys[i] >= 0)
            request.within_keys[outer++] = level_keys[of->keys[i]];
    }
    request.cost = one_in(5) ? 1 + (int32_t)below(3) : 1;
    request.priority = one_in(4) ? (int32_t)below(TAKT_PRIORITY_MAX + 1) : TAKT_PRIORITY_POLICY;
    request.max_wait_us = one_in(6) ? 1 + below(300000) : 0;
    request.tenant = tenants[below(3)];
    if (one_in(6))
        request.amounts[0] = (takt_amount){"tokens", 1 + below(3)};
    return request;
}

/* The policy may give no such cost, refuse the key, or count no such unit. */
static bool is_accepted(int code)
{
    MUST(code == 0 || code == TAKT_E_COST || code == TAKT_E_INVALID, "%s", takt_strerror(code));
    return code == 0;
}

static void begin(job *of, party *by, phase in)
{
    of->phase = in;
    of->party = by;
    of->cancelled = of->settled = false;
}

static void do_acquire(void)
{
    party *by = any_party();
    job *of = any_job(AT_REST);

    if (!by || !of)
        return;
    takt_release(&of->permit);
    of->request = any_request(of, by->plan);
    if (!is_accepted(takt_acquire(by->client, &of->permit, &of->request, acquired)))
        return;
    begin(of, by, WAITING);
    by->waiting++;
}

static void do_try(void)
{
    party *by = any_party();
    job *of = any_job(AT_REST);

    if (!by || !of)
        return;
    takt_release(&of->permit);
    of->request = any_request(of, by->plan);
    of->call.data = of;
    if (is_accepted(takt_try_acquire(by->client, &of->call, &of->permit, &of->request, tried)))
        begin(of, by, TRYING);
}

static void do_cancel(void)
{
    job *of = any_job(WAITING);

    if (of && takt_cancel(&of->permit) == 0)
        of->cancelled = true;
}

static void do_release(void)
{
    job *of = any_job(one_in(6) ? WAITING : GRANTED);

    if (of)
        job_release(of);
}

/* Of the work's own policy, or of a later one, which may not have its limits. */
static void do_settle(void)
{
    job *of = any_job(GRANTED);

    if (!of || of->settled || of->party->closing)
        return;
    of->settled = true;
    if (one_in(2))
        (void)takt_settle(&of->permit, &of->request, TAKT_USED(below(5)));
    else
        (void)takt_settle(&of->permit, &of->request, NULL, 0);
}

static void on_called(takt_call *call, int status, const takt_standing *standing)
{
    (void)standing;
    moved();
    MUST(status == 0, "%s", takt_strerror(status));
    here.called[call - here.calls] = false;
}

static int say(takt_client *client, takt_call *call, const char *limit, const char *key)
{
    int64_t for_us = one_in(3) ? INT64_C(3600000000) : 1 + below(300000);

    switch (below(8)) {
    case 0:
    case 1:
        return takt_block(client, call, limit, key, for_us, NULL, on_called);
    case 2:
        return takt_penalize(client, call, limit, key, below(200000), NULL, on_called);
    case 3:
        return takt_reset(client, call, limit, key, on_called);
    case 4:
        return takt_peek(client, call, limit, key, on_called);
    default:
        return takt_unblock(client, call, limit, key, on_called);
    }
}

static void do_call(void)
{
    int at = (int)below(CALLS);
    party *by = any_party();

    if (by && !here.called[at])
        here.called[at] = say(by->client, &here.calls[at], level_names[below(LEVELS)],
                              level_keys[below(KEYS)]) == 0;
}

static void do_reload(void)
{
    party *by = any_party();

    if (by && !here.steady)
        party_reload(by, any_plan());
}

static void do_open(void)
{
    party_open(&here.parties[below(here.party_count)]);
}

static void do_close(void)
{
    party_close(&here.parties[below(here.party_count)]);
}

static const struct {
    void (*act)(void);
    int weight;
    bool within_callbacks; /* else it runs the loop */
} acts[] = {
    {do_acquire, 300, true}, {do_try, 60, true},         {do_cancel, 25, true},
    {do_release, 250, true}, {do_settle, 30, true},      {do_call, 15, true},
    {do_reload, 8, true},    {do_open, 8, true},         {do_close, 3, true},
    {turn, 200, false},      {await_a_while, 60, false},
};

static void do_one(bool within_callback)
{
    int64_t at, total = 0;
    size_t i = 0;

    for (size_t j = 0; j < sizeof acts / sizeof acts[0]; j++)
        total += acts[j].within_callbacks || !within_callback ? acts[j].weight : 0;
    at = below(total);
    for (;; i++) {
        int weight = acts[i].within_callbacks || !within_callback ? acts[i].weight : 0;
        if (at < weight)
            break;
        at -= weight;
    }
    acts[i].act();
}

static void do_within_callback(void)
{
    if (here.ending || here.depth > 0 || !one_in(3))
        return;
    here.depth++;
    do_one(true);
    here.depth--;
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* Another process: it says by the pipe that it takes connections. */
static int run_agent(const char *policy, int ready)
{
    static takt_agent agent;
    takt_agent_options options = {
        .listen = here.agent + strlen("agent:"), .policy = policy, .store = here.store};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (takt_agent_open(&agent, &options) != 0 || write(ready, "r", 1) != 1)
        return 1;
    return uv_run(&agent.loop, UV_RUN_DEFAULT);
}

static void start_agent(void)
{
    char policy[PATH_MAX + 16], byte;
    FILE *file;
    int ready[2];

    snprintf(here.agent, sizeof here.agent, "agent:%s/socket", here.directory);
    snprintf(policy, sizeof policy, "%s/policy", here.directory);
    file = fopen(policy, "w");
    MUST(file, "no policy of the agent");
    fprintf(file, "namespace: %s\nlimits: [{name: other, rules: [{rate: 1/s}]}]\n",
            here.name_space);
    fclose(file);
    MUST(pipe(ready) == 0, "no pipe");
    fflush(NULL);
    here.agent_process = fork();
    if (here.agent_process == 0)
        _exit(run_agent(policy, ready[1]));
    close(ready[1]);
    MUST(read(ready[0], &byte, 1) == 1, "the agent does not start");
    close(ready[0]);
}

static void name_store(void)
{
    if (here.kind == MEMORY)
        snprintf(here.store, sizeof here.store, "memory:%s", here.name_space);
    else if (here.kind == FILE_STORE || here.kind == AGENT_FILE)
        snprintf(here.store, sizeof here.store, "file:%s/ledgers.mdb", here.directory);
    else if (here.kind == SLOW)
        snprintf(here.store, sizeof here.store, "%s", proxy.url);
    else
        snprintf(here.store, sizeof here.store, "%s", server.url);
    if (here.kind == SLOW) {
        proxy.shared->settings.delay_us = (int)below(30000);
        proxy_change(&proxy);
    }
}

static void world_begin(uint64_t seed, store_kind kind)
{
    takt_options options = {
        .store = here.store, .name_space = here.name_space, .store_timeout_us = STORE_TIMEOUT_US};
    const char *text = plan_of_observer();
    takt_error error;

    memset(&here, 0, sizeof here);
    here.seed = here.random = seed;
    here.kind = kind;
    here.steady = one_in(3);
    here.party_count = 1 + (int)below(PARTIES);
    snprintf(here.name_space, sizeof here.name_space, "wait-%" PRIu64, seed);
    rig_directory(here.directory);
    name_store();
    if (kind == AGENT_FILE || kind == AGENT_REDIS)
        start_agent();
    uv_loop_init(&here.loop);
    uv_timer_init(&here.loop, &here.tick);
    uv_timer_start(&here.tick, on_tick, 1, 1);
    plan_begin();
    for (int i = 0; i < JOBS; i++)
        here.jobs[i].permit.data = &here.jobs[i];
    moved();
    for (int i = 0; i < here.party_count; i++)
        party_open(&here.parties[i]);
    MUST(takt_policy_parse(&here.looking, "p", text, strlen(text), &error) == 0, "%s", error.text);
    MUST(takt_open(&here.observer, &here.loop, here.looking, &options, &error) == 0, "%s",
         error.text);
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool calls_wait(void)
{
    for (int i = 0; i < CALLS; i++)
        if (here.called[i])
            return true;
    return false;
}

static bool jobs_wait(void)
{
    for (int i = 0; i < JOBS; i++)
        if (here.jobs[i].phase == WAITING || here.jobs[i].phase == TRYING)
            return true;
    return false;
}

static bool parties_close(void)
{
    for (int i = 0; i < here.party_count; i++)
        if (here.parties[i].closing)
            return true;
    return false;
}

static void lift_blocks(void)
{
    while (calls_wait())
        await("a call is not answered");
    for (int i = 0; i < LEVELS; i++)
        for (int key = 0; key < KEYS; key++)
            for (int reset = 0; reset < 2; reset++) {
                int (*call)(takt_client *, takt_call *, const char *, const char *, takt_call_cb) =
                    reset ? takt_reset : takt_unblock;
                here.called[0] = true;
                MUST(call(here.observer, &here.calls[0], level_names[i], level_keys[key],
                          on_called) == 0,
                     "no call");
                while (calls_wait())
                    await("a block is not lifted");
            }
}

/* Nothing waits in the queues of a client: not in one place either that others would find. */
static bool is_at_rest(const party *of)
{
    const takt_scheduler *scheduler = &of->client->scheduler;

    for (size_t i = 0; i < scheduler->queues.used; i++)
        for (const takt_entry *entry = scheduler->queues.buckets[i]; entry; entry = entry->next) {
            const takt_queue *queue = TAKT_HOLDER(entry, takt_queue, registry.entry);
            if (queue->waiters.total != 0 || queue->waiters.tokens != 0 || queue->coming != 0 ||
                queue->waiters.counted != 0 || queue->holding.running != 0 || queue->tries != 0 ||
                queue->in_hand.count != 0 || queue->claims.in_flight || queue->awarded.in_line != 0)
                return false;
            if (queue->turn && (queue->turn->priority >= 0 || queue->turn->stands))
                return false;
        }
    return takt_list_empty(&scheduler->fired) && takt_list_empty(&scheduler->granted) &&
           takt_list_empty(&scheduler->quiet) && takt_list_empty(&scheduler->losers);
}

/* How many shadow waiters there are.  With concurrency one holds its permit as long as its work
 * ran. */
static int64_t shadows_wait(const party *of)
{
    takt_shadow shadow;
    int64_t waiting = 0;

    for (int i = 0; i < LEVELS; i++)
        if (takt_get_shadow(of->client, level_names[i], &shadow) == 0)
            waiting += shadow.waiting;
    return waiting;
}

static void check_parties(void)
{
    takt_stats stats;

    for (int i = 0; i < here.party_count; i++) {
        const party *of = &here.parties[i];
        if (!of->client)
            continue;
        takt_get_stats(of->client, &stats);
        MUST(stats.waiting == 0, "client %d: %d wait", i, (int)stats.waiting);
        moved();
        for (int64_t left = INT64_MAX, now; (now = shadows_wait(of)) > 0; left = now) {
            if (now < left)
                moved();
            await("a shadow waiter does not start");
        }
        moved();
        while (!is_at_rest(of))
            await("a queue does not come to rest");
    }
}

/* What the ledgers tell to somebody else. */
static struct {
    int64_t waiting, workers, held, holders;
} looked;

static void on_looked(takt_call *call, int status, const takt_standing *standing)
{
    MUST(status == 0, "%s", takt_strerror(status));
    looked.waiting = standing->waiting;
    looked.workers = standing->workers;
    looked.held = standing->held;
    looked.holders = standing->holders;
    here.called[call - here.calls] = false;
}

static void check_ledger(const char *limit, const char *key)
{
    char words[160];

    moved();
    do {
        here.called[0] = true;
        MUST(takt_peek(here.observer, &here.calls[0], limit, key, on_looked) == 0, "no look");
        while (calls_wait())
            await("a look is not answered");
        snprintf(words, sizeof words, "%s %s: %d wait in %d workers, %d hold %d", limit,
                 key ? key : "-", (int)looked.waiting, (int)looked.workers, (int)looked.holders,
                 (int)looked.held);
        await(words);
    } while (looked.waiting != 0 || looked.workers != 0 || looked.held != 0 || looked.holders != 0);
    moved();
}

/* Some of the worlds end with one policy for all, others with the different ones that they have. */
static void settle_down(void)
{
    const plan *last = any_plan();
    bool anew = !here.steady && one_in(3);

    here.ending = true;
    for (int i = 0; i < here.party_count && anew; i++)
        if (here.parties[i].client && !here.parties[i].closing)
            party_reload(&here.parties[i], last);
    for (int i = 0; i < JOBS; i++)
        if (here.jobs[i].phase == GRANTED && here.jobs[i].party && !here.jobs[i].party->closing)
            job_release(&here.jobs[i]);
    lift_blocks();
    moved();
    while (jobs_wait() || parties_close())
        await("nothing starts");
}

static void world_end(void)
{
    settle_down();
    check_parties();
    for (int i = 0; i < LEVELS; i++)
        for (int key = 0; key < KEYS; key++)
            check_ledger(level_names[i], level_keys[key]);
    for (int i = 0; i < here.party_count; i++)
        party_close(&here.parties[i]);
    takt_close(here.observer, NULL, NULL);
    uv_close((uv_handle_t *)&here.tick, NULL);
    MUST(uv_run(&here.loop, UV_RUN_DEFAULT) == 0, "a loop goes on");
    MUST(uv_loop_close(&here.loop) == 0, "a handle was left open");
    if (here.agent_process != 0) {
        kill(here.agent_process, SIGKILL);
        rig_reap(here.agent_process);
    }
    for (plan *at = here.plans, *next; at; at = next) {
        next = at->next;
        plan_free(at);
    }
    takt_policy_free(here.looking);
    rig_remove(here.directory);
}

int main(int argc, char **argv)
{
    int seeds = argc > 1 ? atoi(argv[1]) : SEEDS;
    uint64_t first = test_seed(1);

    patience_s = argc > 2 ? atoi(argv[2]) : PATIENCE_S;
    signal(SIGPIPE, SIG_IGN);
    server_start(&server, NULL);
    proxy_start(&proxy, server.socket);
    for (uint64_t seed = first; seed < first + (uint64_t)seeds; seed++) {
        world_begin(seed, (store_kind)(seed % KINDS));
        for (int i = 0; i < STEPS; i++)
            do_one(false);
        world_end();
    }
    proxy_stop(&proxy);
    server_stop(&server);
    return 0;
}
