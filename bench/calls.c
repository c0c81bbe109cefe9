/*
 * calls.c: what takt-call keeps of the calls that the same libcurl code makes without it: a sink on
 * this host that answers at once, an unthrottled limit, the same number of calls at a time, in
 * turn.
 *
 *     calls TAKT_CALL [CALLS] [AT_ONCE] [TURNS]      TAKT_CALL: the path of the program
 */
#include <arpa/inet.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

#include "bench.h"
#include "transfer/transfer.h"

#define ANSWER    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
#define TURNS_MAX 20

extern char **environ;

/* ---- the sink: another process --------------------------------------------------------------- */

static void give_memory(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    static char memory[65536];

    (void)handle;
    (void)wanted;
    *buffer = uv_buf_init(memory, sizeof memory);
}

static void free_stream(uv_handle_t *handle)
{
    free(handle);
}

/* Requests come whole here: they are small. */
static void hear(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    uv_buf_t answer = uv_buf_init((char *)ANSWER, sizeof ANSWER - 1);

    if (size < 0)
        uv_close((uv_handle_t *)stream, free_stream);
    else if (size >= 4 && memcmp(buffer->base + size - 4, "\r\n\r\n", 4) == 0)
        uv_try_write(stream, &answer, 1);
}

static void welcome(uv_stream_t *listener, int status)
{
    uv_tcp_t *connection = malloc(sizeof *connection);

    if (!connection || status != 0)
        exit(1);
    uv_tcp_init(listener->loop, connection);
    uv_accept(listener, (uv_stream_t *)connection);
    uv_tcp_nodelay(connection, 1);
    uv_read_start((uv_stream_t *)connection, give_memory, hear);
}

static void run_sink(int out)
{
    struct sockaddr_in address;
    uv_tcp_t listener;
    uv_loop_t loop;
    int size = sizeof address;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    uv_loop_init(&loop);
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_init(&loop, &listener);
    uv_tcp_bind(&listener, (struct sockaddr *)&address, 0);
    uv_tcp_getsockname(&listener, (struct sockaddr *)&address, &size);
    if (uv_listen((uv_stream_t *)&listener, 512, welcome) != 0 ||
        write(out, &address.sin_port, sizeof address.sin_port) != sizeof address.sin_port)
        exit(1);
    uv_run(&loop, UV_RUN_DEFAULT);
}

static pid_t start_sink(int *port)
{
    in_port_t told;
    int ends[2];
    pid_t child;

    bench_must(pipe(ends), "pipe");
    child = fork();
    bench_must(child, "fork");
    if (child == 0)
        run_sink(ends[1]);
    if (read(ends[0], &told, sizeof told) != sizeof told)
        bench_must(-1, "the sink");
    *port = ntohs(told);
    return child;
}

/* ---- without takt ---------------------------------------------------------------------------- */

static transfers *all;
static char url[64];
static long left, under_way;

static size_t drop(char *text, size_t one, size_t size, void *data)
{
    (void)text;
    (void)data;
    return one * size;
}

static void done(CURL *handle, CURLcode result, void *data);

static void begin(void)
{
    CURL *handle = transfers_take(all);

    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, 30000L);
    left--;
    under_way++;
    if (!transfers_start(all, handle, done, NULL))
        bench_must(-1, "transfers_start");
}

static void done(CURL *handle, CURLcode result, void *data)
{
    (void)data;
    bench_must(result == CURLE_OK ? 0 : -1, "a call");
    transfers_put(all, handle);
    under_way--;
    if (left > 0)
        begin();
    else if (under_way == 0)
        transfers_close(all);
}

static double cpu_us(int64_t from_ns, int children, long calls)
{
    return (double)(bench_cpu_ns(children) - from_ns) / 1e3 / (double)calls;
}

static double rate_without(long calls, long at_once)
{
    uv_loop_t loop;
    int64_t from_ns = bench_now_ns();

    uv_loop_init(&loop);
    bench_must(transfers_open(&all, &loop, 256, NULL), "transfers_open");
    left = calls;
    while (under_way < at_once)
        begin();
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return (double)calls * 1e9 / (double)(bench_now_ns() - from_ns);
}

/* ---- takt-call ------------------------------------------------------------------------------- */

static char *path_of(const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%s", bench_directory(), name) < 0)
        bench_must(-1, "no memory");
    return path;
}

static void write_jobs(const char *path, long calls)
{
    FILE *file = fopen(path, "w");

    for (long i = 0; file && i < calls; i++)
        fprintf(file, "{\"id\":\"c-%ld\",\"limit\":\"bench\",\"url\":\"%s\"}\n", i, url);
    bench_must(!file || fclose(file) != 0 ? -1 : 0, "jobs");
}

static void write_policy(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file)
        fputs("limits: [{name: bench, rules: [{rate: 1000000/s, burst: 1000000}]}]\n", file);
    bench_must(!file || fclose(file) != 0 ? -1 : 0, "a policy");
}

/* From its start to its end, so its start counts as well. */
static double rate_with(char *program, long calls, const char *at_once)
{
    char *jobs = path_of("jobs"), *state = path_of("jobs.state"), *policy = path_of("takt.yaml");
    char *arguments[] = {
        program,     "-p",    policy, "-s",         "memory:",       "-i", jobs, "--results",
        "/dev/null", "--log", "none", "--parallel", (char *)at_once, NULL};
    int64_t from_ns = bench_now_ns();
    pid_t child;
    int status;

    unlink(state);
    if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0)
        bench_must(-1, program);
    free(jobs);
    free(state);
    free(policy);
    return (double)calls * 1e9 / (double)(bench_now_ns() - from_ns);
}

int main(int argc, char **argv)
{
    long calls = argc > 2 ? atol(argv[2]) : 50000;
    const char *at_once = argc > 3 ? argv[3] : "64";
    int turns = argc > 4 ? atoi(argv[4]) : 5, port;
    int64_t without[TURNS_MAX], with[TURNS_MAX], cpu_ns = 0;
    double our_us = 0, bare_us = 0; /* of the last turn */
    pid_t sink;

    if (argc < 2 || turns < 1 || turns > TURNS_MAX || atol(at_once) < 1 || calls < atol(at_once)) {
        fprintf(stderr, "usage: calls TAKT_CALL [CALLS] [AT_ONCE] [TURNS]\n");
        return 64;
    }
    unsetenv("http_proxy");
    sink = start_sink(&port);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    write_jobs(path_of("jobs"), calls);
    write_policy(path_of("takt.yaml"));
    for (int i = 0; i < turns; i++) { /* in turn, so that a noisy machine disturbs both alike */
        cpu_ns = bench_cpu_ns(0);
        without[i] = (int64_t)rate_without(calls, atol(at_once));
        bare_us = cpu_us(cpu_ns, 0, calls);
        cpu_ns = bench_cpu_ns(1);
        with[i] = (int64_t)rate_with(argv[1], calls, at_once);
        our_us = cpu_us(cpu_ns, 1, calls);
    }
    kill(sink, SIGKILL);
    int64_t bare = bench_quantile(without, turns, 0.5), ours = bench_quantile(with, turns, 0.5);
    printf("{\"bench\":\"calls\",\"calls\":%ld,\"at_once\":%s,\"turns\":%d,"
           "\"libcurl_per_s\":%lld,\"takt_call_per_s\":%lld,\"kept\":%.3f,"
           "\"libcurl_cpu_us\":%.1f,\"takt_call_cpu_us\":%.1f}\n",
           calls, at_once, turns, (long long)bare, (long long)ours, (double)ours / (double)bare,
           bare_us, our_us);
    return 0;
}
