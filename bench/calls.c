/*
 * calls.c: the speed of takt-call, compared with the same libcurl code without it: a sink on this
 * host that answers at once, an unthrottled limit, the same number of calls at a time.  Four ways,
 * alternately:
 *
 *     libcurl       workers/transfer alone: a URL, and the answer is dropped
 *     prepared      the same with takt-call's request of one job that was read before, and its
 *                   reading of answers
 *     without takt  the program of a user without limits: each request from its job's line, each
 *                   result written as a line
 *     takt-call     the program from its start to its end, with a state file
 *
 *     calls TAKT_CALL [CALLS] [AT_ONCE] [TURNS]      TAKT_CALL: the path of the program
 */
#include <arpa/inet.h>
#include <fcntl.h>
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
#include "call/call.h"
#include "jobs/frame/job_parse.h"
#include "jobs/frame/results.h"

#define ANSWER    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
#define TURNS_MAX 20
#define BATCH     ((size_t)64 * 1024) /* of results */

#define JOB "{\"id\":\"c-%ld\",\"limit\":\"bench\",\"url\":\"%s\"}\n"

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

enum { LIBCURL, READY_MADE, BY_HAND, TAKT_CALL, WAYS };

static const char *const names[] = {"libcurl", "prepared", "without takt", "takt-call"};

/* One of those that are under way. */
typedef struct hand {
    takt_caller_call call;
    json_t *fields; /* of its job */
    takt_job_head head;
} hand;

static const takt_caller_options options = {
    .allowed = {.hosts = "127.0.0.1"},
    .timeout_us = 30000000,
    .connect_us = 10000000,
    .response_max = 1024 * 1024,
    .with_body = true,
    .with_headers = true,
};

static takt_transfers *all;
static char url[64];
static int way;
static long left, under_way;
static FILE *lines;
static takt_buffer result_lines;
static int results_fd;

static size_t drop(char *text, size_t one, size_t size, void *data)
{
    (void)text;
    (void)data;
    return one * size;
}

/* From its line to a request. */
static void read_job(hand *hand, char *line, size_t size)
{
    takt_error error = {0};

    hand->call =
        (takt_caller_call){.answer = {.body_max = options.response_max, .keep_headers = true}};
    if (takt_job_parse(line, size, NULL, &hand->fields, &hand->head, &error) != 0 ||
        takt_caller_spec_read(hand->fields, &options.allowed, false, &hand->call.spec, &error) != 0)
        bench_must(-1, error.text);
    hand->call.method = hand->call.spec.method;
}

static void read_next(hand *hand)
{
    static char *line;
    static size_t capacity;
    ssize_t size = getline(&line, &capacity, lines);

    bench_must(size > 0 ? 0 : -1, "a line");
    read_job(hand, line, (size_t)size);
}

static void write_results(void)
{
    bench_must(write(results_fd, result_lines.at, result_lines.size) == (ssize_t)result_lines.size
                   ? 0
                   : -1,
               "results");
    result_lines.size = 0;
}

/* As takt-call ends a call, without learning and secrets. */
static void end_by_hand(hand *hand, long status)
{
    bench_must(takt_caller_spec_expects(&hand->call.spec, status) ? 0 : -1, "a status");
    json_t *result = takt_caller_result(&hand->call, &options, status, 1);
    takt_results_write(&result_lines, result, hand->head.id);
    json_decref(result);
    if (result_lines.size >= BATCH)
        write_results();
    json_decref(hand->fields);
    takt_caller_forget_headers(&hand->call);
    takt_caller_answer_free(&hand->call.answer);
}

static void done(CURL *handle, CURLcode result, void *data);

static void begin(hand *hand)
{
    CURL *handle = takt_transfers_take(all);
    takt_error error = {0};

    left--;
    under_way++;
    if (way == BY_HAND)
        read_next(hand);
    if (way == LIBCURL) {
        curl_easy_setopt(handle, CURLOPT_URL, url);
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, drop);
        curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, 30000L);
    } else {
        hand->call.handle = handle;
        hand->call.began_ns = hand->call.sent_ns = uv_hrtime();
        bench_must(takt_caller_prepare(&hand->call, &options, &error), error.text);
    }
    if (!takt_transfers_start(all, handle, done, hand))
        bench_must(-1, "transfers_start");
}

static void done(CURL *handle, CURLcode result, void *data)
{
    hand *hand = data;
    long status = 0;

    bench_must(result == CURLE_OK ? 0 : -1, "a call");
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    if (way == BY_HAND)
        end_by_hand(hand, status);
    takt_transfers_put(all, handle);
    under_way--;
    if (left > 0)
        begin(hand);
    else if (under_way == 0)
        takt_transfers_close(all);
}

static char *path_of(const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%s", bench_directory(), name) < 0)
        bench_must(-1, "no memory");
    return path;
}

static void run_without(long calls, long at_once)
{
    char line[128], *path = path_of("jobs");
    hand *hands = calloc((size_t)at_once, sizeof(*hands));
    uv_loop_t loop;

    uv_loop_init(&loop);
    bench_must(takt_transfers_open(&all, &loop, 256, NULL), "transfers_open");
    lines = fopen(path, "r");
    results_fd = open("/dev/null", O_WRONLY);
    bench_must(hands && lines ? results_fd : -1, path);
    int size = snprintf(line, sizeof(line), JOB, 0L, url);
    left = calls;
    for (long i = 0; i < at_once; i++) {
        if (way == READY_MADE)
            read_job(&hands[i], line, (size_t)size);
        begin(&hands[i]);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    write_results();
    close(results_fd);
    fclose(lines);
    free(hands);
    free(path);
}

/* ---- takt-call ------------------------------------------------------------------------------- */

static void write_jobs(const char *path, long calls)
{
    FILE *file = fopen(path, "w");

    for (long i = 0; file && i < calls; i++)
        fprintf(file, JOB, i, url);
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
static void run_takt_call(char *program, const char *at_once)
{
    char *jobs = path_of("jobs"), *state = path_of("jobs.state"), *policy = path_of("takt.yaml");
    char *arguments[] = {
        program, "--hosts",   "127.0.0.1", "-p",    policy, "-s",         "memory:",       "-i",
        jobs,    "--results", "/dev/null", "--log", "none", "--parallel", (char *)at_once, NULL};
    pid_t child;
    int status;

    unlink(state);
    if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0)
        bench_must(-1, program);
    free(jobs);
    free(state);
    free(policy);
}

/* ---- all ways -------------------------------------------------------------------------------- */

typedef struct takt_figures {
    int64_t took_ns[TURNS_MAX], cpu_ns;
} takt_figures;

static void measure(takt_figures *figures, int turn, char *program, long calls, const char *at_once)
{
    bool is_child = way == TAKT_CALL;
    int64_t from_ns = bench_now_ns(), cpu_ns = bench_cpu_ns(is_child);

    if (is_child)
        run_takt_call(program, at_once);
    else
        run_without(calls, atol(at_once));
    figures->took_ns[turn] = bench_now_ns() - from_ns;
    figures->cpu_ns += bench_cpu_ns(is_child) - cpu_ns;
}

/* `kept`: of what that way reaches, takt-call has so much: in calls a second, and in calls for the
 * same processor time. */
static void tell(takt_figures all[WAYS], int at, long calls, const char *at_once, int turns)
{
    double took_ns = (double)bench_quantile(all[at].took_ns, turns, 0.5);
    double ours_ns = (double)bench_quantile(all[TAKT_CALL].took_ns, turns, 0.5);

    printf("{\"bench\":\"calls\",\"way\":\"%s\",\"calls\":%ld,\"at_once\":%s,\"turns\":%d,"
           "\"per_s\":%.0f,\"cpu_us\":%.1f,\"kept\":%.3f,\"kept_by_cpu\":%.3f}\n",
           names[at], calls, at_once, turns, (double)calls * 1e9 / took_ns,
           (double)all[at].cpu_ns / 1e3 / (double)calls / turns, took_ns / ours_ns,
           (double)all[at].cpu_ns / (double)all[TAKT_CALL].cpu_ns);
}

int main(int argc, char **argv)
{
    long calls = argc > 2 ? atol(argv[2]) : 50000;
    const char *at_once = argc > 3 ? argv[3] : "64";
    int turns = argc > 4 ? atoi(argv[4]) : 5, port;
    takt_figures figures[WAYS] = {0};

    if (argc < 2 || turns < 1 || turns > TURNS_MAX || atol(at_once) < 1 || calls < atol(at_once)) {
        fprintf(stderr, "usage: calls TAKT_CALL [CALLS] [AT_ONCE] [TURNS]\n");
        return 64;
    }
    unsetenv("http_proxy");
    pid_t sink = start_sink(&port);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    write_jobs(path_of("jobs"), calls);
    write_policy(path_of("takt.yaml"));
    for (int i = 0; i < turns; i++) /* in turn, so that a noisy machine disturbs all alike */
        for (way = 0; way < WAYS; way++)
            measure(&figures[way], i, argv[1], calls, at_once);
    kill(sink, SIGKILL);
    for (int i = 0; i < WAYS; i++)
        tell(figures, i, calls, at_once, turns);
    return 0;
}
