/*
 * agent.c: what the agent of a host costs programs that speak its protocol, over a fresh Redis
 * server.  The clients here read and write plain sockets.
 *
 *     agent PROGRAM latency [TIMES]
 *     agent PROGRAM throughput [HOW [PROCESSES [WAITERS [SECONDS]]]]
 *     agent PROGRAM paced [PROCESSES [RATE [SECONDS]]]
 *     agent PROGRAM idle [CONNECTIONS]
 *     agent PROGRAM killed [TIMES]
 *
 * PROGRAM: takt-agent, by its path.  latency: an ACQUIRE, and beside it a takt_acquire at the
 * same server, in turn.  throughput: acquires that never have to wait; each process has its WAITERS
 * by HOW: `tags` of one connection, a `pipeline` of plain ACQUIREs on one (the agent does them one
 * after the other), or `connections` of their own.  paced: requests to the server for each grant,
 * with one waiter in each process.  idle: memory, after each connection has sent a PING.  killed:
 * from the SIGKILL of the process that has the only permit until another one has it.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "bench.h"
#include "own_agent.h"
#include "server.h"

#define WARM_UP      1000 /* acquires of latency */
#define SECOND_NS    INT64_C(1000000000)
#define PERMIT_LINES 6 /* of four values, of which the token takes two */
#define FREE_RATE    "10000000/s"
#define FREE_BURST   "10000000"

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void define(const char *rate, const char *burst)
{
    bench_client client = bench_agent_connect();

    BENCH_PUT(&client, "DEFINE", "through", "RATE", rate, "BURST", burst);
    bench_client_do(&client, 1);
    bench_client_close(&client);
}

/* A whole ACQUIRE that waits. */
static void acquire(bench_client *client)
{
    BENCH_PUT(client, "ACQUIRE", "through");
    client->lines = 0;
    bench_client_send(client);
    while (client->lines < PERMIT_LINES)
        bench_client_read(client);
}

/* ---- several processes ----------------------------------------------------------------------- */

typedef struct bench_plan {
    const char *how;
    int processes, waiters;
    int64_t from_ns, until_ns;     /* what counts */
    int64_t *granted;              /* by process; shared */
    int64_t *agent_ns, *server_ns; /* processor time in what counts; shared */
    int64_t *requests;             /* to the server; shared */
    void (*work)(const struct bench_plan *plan, int64_t *granted);
} bench_plan;

static void sleep_until(int64_t at_ns)
{
    struct timespec at = {at_ns / SECOND_NS, at_ns % SECOND_NS};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
        ;
}

/* Scripts that the server was asked for. */
static int64_t count_requests(void)
{
    static const char name[] = "cmdstat_evalsha:calls=";
    const char *at = strstr(bench_server_say("INFO commandstats"), name);

    return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

static void watch(const bench_plan *plan)
{
    sleep_until(plan->from_ns);
    *plan->requests = -count_requests();
    *plan->agent_ns = -bench_agent_cpu_ns();
    *plan->server_ns = -bench_server_cpu_ns();
    sleep_until(plan->until_ns);
    *plan->agent_ns += bench_agent_cpu_ns();
    *plan->server_ns += bench_server_cpu_ns();
    *plan->requests += count_requests();
}

static void run(int index, void *data)
{
    const bench_plan *plan = data;

    if (index == plan->processes)
        watch(plan);
    else
        plan->work(plan, &plan->granted[index]);
}

/* Returns the grants of all in what counts. */
static int64_t run_all(bench_plan *plan, int seconds)
{
    int64_t granted = 0;

    plan->granted = bench_shared(sizeof(int64_t) * (uint64_t)plan->processes);
    plan->agent_ns = bench_shared(sizeof(int64_t));
    plan->server_ns = bench_shared(sizeof(int64_t));
    plan->requests = bench_shared(sizeof(int64_t));
    plan->from_ns = bench_now_ns() + SECOND_NS;
    plan->until_ns = plan->from_ns + seconds * SECOND_NS;
    bench_fork(plan->processes + 1, run, plan);
    for (int i = 0; i < plan->processes; i++)
        granted += plan->granted[i];
    if (granted == 0)
        fail("nothing was granted");
    return granted;
}

/* Whether the time is up; else counts what counts. */
static bool is_over(const bench_plan *plan, int64_t grants, int64_t *granted)
{
    int64_t now_ns = bench_now_ns();

    if (now_ns >= plan->from_ns && now_ns < plan->until_ns)
        *granted += grants;
    return now_ns >= plan->until_ns;
}

/* ---- latency --------------------------------------------------------------------------------- */

static void on_granted(takt_permit *permit, int status)
{
    bench_must(status, "an acquire");
    takt_release(permit);
}

/* takt_acquire, up to its callback. */
static int64_t time_direct(uv_loop_t *loop, takt_client *client, takt_permit *permit)
{
    takt_request request = TAKT_REQUEST("bench");
    int64_t begin_ns = bench_now_ns();

    bench_must(takt_acquire(client, permit, &request, on_granted), "takt_acquire");
    while (permit->state != 0)
        uv_run(loop, UV_RUN_ONCE);
    return bench_now_ns() - begin_ns;
}

static int64_t time_through(bench_client *client)
{
    int64_t begin_ns = bench_now_ns();

    acquire(client);
    return bench_now_ns() - begin_ns;
}

static void report_latency(int64_t *through, int64_t *direct, int64_t count)
{
    double through_us = (double)bench_quantile(through, count, 0.5) / 1000;
    double direct_us = (double)bench_quantile(direct, count, 0.5) / 1000;

    printf("{\"bench\":\"agent latency\",\"times\":%" PRId64
           ",\"agent_p50_us\":%.1f,\"agent_p99_us\":%.1f,\"direct_p50_us\":%.1f,"
           "\"direct_p99_us\":%.1f,\"added_p50_us\":%.1f}\n",
           count, through_us, (double)bench_quantile(through, count, 0.99) / 1000, direct_us,
           (double)bench_quantile(direct, count, 0.99) / 1000, through_us - direct_us);
}

static void measure_latency(int64_t times)
{
    takt_options options = {.store = bench_server()};
    takt_policy *policy = bench_policy(FREE_RATE, FREE_BURST);
    int64_t *through = calloc((size_t)times, sizeof *through),
            *direct = calloc((size_t)times, sizeof *direct);
    takt_permit permit = {0};
    bench_client client = bench_agent_connect();
    takt_client *of_bench;
    uv_loop_t loop;

    define(FREE_RATE, FREE_BURST);
    uv_loop_init(&loop);
    bench_must(takt_open(&of_bench, &loop, policy, &options, NULL), "takt_open");
    for (int64_t i = -WARM_UP; i < times; i++) {
        int64_t through_ns = time_through(&client),
                direct_ns = time_direct(&loop, of_bench, &permit);
        if (i < 0)
            continue;
        through[i] = through_ns;
        direct[i] = direct_ns;
    }
    report_latency(through, direct, times);
    takt_close(of_bench, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    takt_policy_free(policy);
    bench_client_close(&client);
    free(through);
    free(direct);
}

/* ---- throughput ------------------------------------------------------------------------------ */

static void put_acquires(bench_client *client, bool tagged, int64_t count, int64_t *last_tag)
{
    char tag[24];

    for (int64_t i = 0; i < count; i++) {
        if (!tagged) {
            BENCH_PUT(client, "ACQUIRE", "through");
            continue;
        }
        snprintf(tag, sizeof tag, "%" PRId64, ++*last_tag);
        BENCH_PUT(client, "ACQUIRE", "through", "TAG", tag);
    }
    bench_client_send(client);
}

/* All waiters on one connection: each answer is followed by another ACQUIRE. */
static void work_on_one(const bench_plan *plan, int64_t *granted)
{
    bool tagged = strcmp(plan->how, "tags") == 0;
    bench_client client = bench_agent_connect();
    int64_t last_tag = 0;

    if (tagged) {
        BENCH_PUT(&client, "HELLO", "3");
        BENCH_PUT(&client, "PING");
        bench_client_do(&client, 1);
    }
    client.mark = tagged ? '>' : '*';
    put_acquires(&client, tagged, plan->waiters, &last_tag);
    while (!is_over(plan, client.answers, granted)) {
        client.answers = 0;
        bench_client_read(&client);
        put_acquires(&client, tagged, client.answers, &last_tag);
    }
}

static void work_on_many(const bench_plan *plan, int64_t *granted)
{
    bench_client *clients = calloc((size_t)plan->waiters, sizeof *clients);
    struct pollfd *polled = calloc((size_t)plan->waiters, sizeof *polled);
    int64_t grants = 0;

    for (int i = 0; i < plan->waiters; i++) {
        clients[i] = bench_agent_connect();
        clients[i].mark = '*';
        put_acquires(&clients[i], false, 1, NULL);
        polled[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
    }
    while (!is_over(plan, grants, granted)) {
        grants = 0;
        poll(polled, (nfds_t)plan->waiters, 1000);
        for (int i = 0; i < plan->waiters; i++) {
            if (!polled[i].revents)
                continue;
            clients[i].answers = 0;
            bench_client_read(&clients[i]);
            grants += clients[i].answers;
            put_acquires(&clients[i], false, clients[i].answers, NULL);
        }
    }
    free(clients);
    free(polled);
}

static void measure_throughput(const char *how, int processes, int waiters, int seconds)
{
    bool of_many = strcmp(how, "connections") == 0;
    bench_plan plan = {.how = how,
                       .processes = processes,
                       .waiters = waiters,
                       .work = of_many ? work_on_many : work_on_one};
    int64_t granted;

    if (!of_many && strcmp(how, "tags") != 0 && strcmp(how, "pipeline") != 0)
        fail("HOW is tags, pipeline or connections");
    define(FREE_RATE, FREE_BURST);
    granted = run_all(&plan, seconds);
    printf("{\"bench\":\"agent throughput\",\"how\":\"%s\",\"processes\":%d,\"waiters\":%d,"
           "\"acquires_per_s\":%.0f,\"requests_per_grant\":%.5f,\"agent_cpu_us_per_grant\":%.3f,"
           "\"agent_busy\":%.2f,\"server_busy\":%.2f}\n",
           how, processes, waiters, (double)granted / seconds,
           (double)*plan.requests / (double)granted,
           (double)*plan.agent_ns / 1000 / (double)granted,
           (double)*plan.agent_ns / (double)SECOND_NS / seconds,
           (double)*plan.server_ns / (double)SECOND_NS / seconds);
}

/* ---- paced ----------------------------------------------------------------------------------- */

static void work_paced(const bench_plan *plan, int64_t *granted)
{
    bench_client client = bench_agent_connect();

    do
        acquire(&client);
    while (!is_over(plan, 1, granted));
}

static void measure_paced(int processes, const char *rate, int seconds)
{
    bench_plan plan = {.processes = processes, .waiters = 1, .work = work_paced};
    int64_t granted;

    define(rate, "1");
    granted = run_all(&plan, seconds);
    printf("{\"bench\":\"agent paced\",\"rate\":\"%s\",\"processes\":%d,\"grants_per_s\":%.2f,"
           "\"requests_per_grant\":%.4f,\"agent_cpu_us_per_grant\":%.1f}\n",
           rate, processes, (double)granted / seconds, (double)*plan.requests / (double)granted,
           (double)*plan.agent_ns / 1000 / (double)granted);
}

/* ---- idle ------------------------------------------------------------------------------------ */

static void measure_idle(int connections)
{
    int64_t before_kb = bench_agent_memory_kb(), after_kb;

    for (int i = 0; i < connections; i++) {
        bench_client client = bench_agent_connect(); /* stays open */
        BENCH_PUT(&client, "PING");
        bench_client_do(&client, 1);
        free(client.out.bytes);
    }
    after_kb = bench_agent_memory_kb();
    printf("{\"bench\":\"agent idle\",\"connections\":%d,\"memory_mb\":%.1f,\"before_mb\":%.1f,"
           "\"bytes_per_connection\":%.0f}\n",
           connections, (double)after_kb / 1024, (double)before_kb / 1024,
           (double)(after_kb - before_kb) * 1024 / connections);
}

/* ---- killed ---------------------------------------------------------------------------------- */

/* Starts a process that takes the permit and keeps it. */
static pid_t start_holder(void)
{
    int held[2];
    char byte = 0;
    pid_t child;

    if (pipe(held) != 0 || (child = fork()) < 0)
        fail("no process for the permit");
    if (child == 0) {
        bench_client client = bench_agent_connect();
        acquire(&client);
        if (write(held[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    close(held[1]);
    if (read(held[0], &byte, 1) != 1)
        fail("the permit is not held");
    close(held[0]);
    return child;
}

static int64_t time_killed(void)
{
    pid_t holder = start_holder();
    bench_client client = bench_agent_connect();
    int64_t begin_ns;

    BENCH_PUT(&client, "ACQUIRE", "through");
    bench_client_send(&client);
    sleep_until(bench_now_ns() + SECOND_NS / 50); /* it is in line by then */
    begin_ns = bench_now_ns();
    kill(holder, SIGKILL);
    while (client.lines < PERMIT_LINES)
        bench_client_read(&client);
    begin_ns = bench_now_ns() - begin_ns;
    waitpid(holder, NULL, 0);
    bench_client_close(&client);
    return begin_ns;
}

static void measure_killed(int64_t times)
{
    int64_t *took = calloc((size_t)times, sizeof *took);
    bench_client client = bench_agent_connect();
    double p50_ms, p99_ms;

    BENCH_PUT(&client, "DEFINE", "through", "CONCURRENCY", "1");
    bench_client_do(&client, 1);
    for (int64_t i = 0; i < times; i++)
        took[i] = time_killed();
    p50_ms = (double)bench_quantile(took, times, 0.5) / 1e6;
    p99_ms = (double)bench_quantile(took, times, 0.99) / 1e6;
    printf("{\"bench\":\"agent killed\",\"times\":%" PRId64
           ",\"free_p50_ms\":%.2f,\"free_p99_ms\":%.2f,\"free_max_ms\":%.2f}\n",
           times, p50_ms, p99_ms, (double)took[times - 1] / 1e6); /* they are sorted now */
    bench_client_close(&client);
    free(took);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void raise_open_files(void)
{
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static int number(int argc, char **argv, int at, int otherwise)
{
    return argc > at && atoi(argv[at]) > 0 ? atoi(argv[at]) : otherwise;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";

    raise_open_files();
    if (argc > 1)
        bench_agent_start(argv[1]);
    if (strcmp(what, "latency") == 0)
        measure_latency(number(argc, argv, 3, 20000));
    else if (strcmp(what, "throughput") == 0)
        measure_throughput(argc > 3 ? argv[3] : "tags", number(argc, argv, 4, 4),
                           number(argc, argv, 5, 256), number(argc, argv, 6, 3));
    else if (strcmp(what, "paced") == 0)
        measure_paced(number(argc, argv, 3, 64), argc > 4 ? argv[4] : "200/s",
                      number(argc, argv, 5, 10));
    else if (strcmp(what, "idle") == 0)
        measure_idle(number(argc, argv, 3, 10000));
    else if (strcmp(what, "killed") == 0)
        measure_killed(number(argc, argv, 3, 200));
    else
        fail("usage: agent PROGRAM latency|throughput|paced|idle|killed ...");
    return 0;
}
