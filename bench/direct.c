/*
 * direct.c: see direct.h.
 */
#include "direct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* What everybody writes first. */
static const char script[] = "local clock = redis.call('TIME')\n"
                             "local now = clock[1] * 1000000 + clock[2]\n"
                             "local tat = tonumber(redis.call('GET', KEYS[1]) or now)\n"
                             "if tat < now then tat = now end\n"
                             "local next = tat + ARGV[1]\n"
                             "if next - ARGV[2] > now then return next - ARGV[2] - now end\n"
                             "redis.call('SET', KEYS[1], next, 'PXAT', math.ceil(next / 1000))\n"
                             "return 0\n";

static struct {
    takt_redis_connection *connection;
    takt_redis_url url;
    uv_loop_t *loop;
    uv_timer_t alive; /* the connection does not keep the loop so */
    bool done;
    char sha1[41];
} direct;

static void on_ready(void *data)
{
    (void)data;
    direct.done = true;
}

static void on_lost(void *data, int code, const char *text)
{
    (void)data;
    (void)code;
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void on_closed(void *data)
{
    (void)data;
    direct.done = true;
}

static void on_loaded(takt_redis_command *command, const takt_reply *reply, int code)
{
    (void)command;
    bench_must(code, "SCRIPT LOAD");
    if (reply->type != TAKT_REPLY_STRING || reply->size != 40) {
        fprintf(stderr, "SCRIPT LOAD: %s\n", reply->text);
        exit(1);
    }
    memcpy(direct.sha1, reply->text, sizeof direct.sha1);
    direct.done = true;
}

static void never(uv_timer_t *timer)
{
    (void)timer;
}

static void await(void)
{
    while (!direct.done)
        uv_run(direct.loop, UV_RUN_ONCE);
    direct.done = false;
}

void bench_direct_open(uv_loop_t *loop, const char *socket)
{
    static const takt_redis_connection_events events = {on_ready, on_lost, NULL, on_closed};
    static const char *const load[] = {"SCRIPT", "LOAD", script};
    takt_redis_command command = {.answered = on_loaded};

    direct.loop = loop;
    bench_must(takt_redis_url_parse(&direct.url, TAKT_REDIS_UNIX, false, socket, NULL), socket);
    uv_timer_init(loop, &direct.alive);
    uv_timer_start(&direct.alive, never, 1000000, 1000000);
    direct.connection =
        takt_redis_connection_open(loop, &direct.url, NULL, NULL, 1000, &events, NULL);
    bench_must(direct.connection ? 0 : TAKT_E_NOMEM, "a connection");
    await();
    bench_direct_send(&command, 3, load);
    await();
}

void bench_direct_send(takt_redis_command *command, int count, const char *const *words)
{
    size_t sizes[8];

    for (int i = 0; i < count; i++)
        sizes[i] = strlen(words[i]);
    if (!takt_redis_connection_send(direct.connection, command, count, words, sizes))
        bench_must(TAKT_E_STORE, "a command");
}

void bench_direct_ask(takt_redis_command *command)
{
    bench_direct_ask_for(command, "takt:{default/bench/direct}", "1", "1000000");
}

void bench_direct_ask_for(takt_redis_command *command, const char *key, const char *interval_us,
                          const char *burst_us)
{
    const char *const words[] = {"EVALSHA",   direct.sha1, "1",      key,
                                 interval_us, burst_us,    "250000", "0"};

    bench_direct_send(command, 8, words);
}

/* ---- many ------------------------------------------------------------------------------------ */

static int64_t left, unanswered;

static void on_one_of_many(takt_redis_command *command, const takt_reply *reply, int code)
{
    bench_must(code, "EVALSHA");
    if (reply->type != TAKT_REPLY_INTEGER) {
        fprintf(stderr, "EVALSHA: %s\n", reply->text);
        exit(1);
    }
    direct.done = --unanswered == 0;
    if (left > 0) {
        left--;
        bench_direct_ask(command);
    }
}

void bench_direct_ask_many(int64_t count, int outstanding)
{
    takt_redis_command *commands = calloc((size_t)outstanding, sizeof *commands);

    left = unanswered = count;
    for (int i = 0; i < outstanding && left > 0; i++, left--) {
        commands[i].answered = on_one_of_many;
        bench_direct_ask(&commands[i]);
    }
    await();
    free(commands);
}

const char *bench_direct_sha1(void)
{
    return direct.sha1;
}

void bench_direct_close(void)
{
    uv_close((uv_handle_t *)&direct.alive, NULL);
    takt_redis_connection_close(direct.connection);
    await();
}
