/*
 * agree_server.c: a Redis server of our own behind a unix socket, with the scripts that a test's
 * clock can be told to.
 */
#include "agree.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/redis/script.h"
#include "store/redis/script_call.h"

#define NAME_SPACE "test"
#define NAME       "takt:{test/any/any}" /* of what agree_world.c draws */
#define COPY       "takt:{test/any/copy}"

static char folder[] = "/tmp/takt-agree-XXXXXX";
static char socket_path[sizeof folder + 16];
static pid_t server;
static redisContext *context, *listener; /* the other one hears who is woken */

/* ---- the server ------------------------------------------------------------------------------ */

static void stop_server(void)
{
    if (context)
        redisFree(context);
    if (listener)
        redisFree(listener);
    context = listener = NULL;
    if (server > 0) {
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
        unlink(socket_path);
        rmdir(folder);
    }
    server = 0;
}

static void run_server(void)
{
    pid_t parent = getppid();
    const char *named = getenv("REDIS_SERVER"), *program = named ? named : "redis-server";

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !freopen("/dev/null", "w", stdout))
        _exit(1);
    execlp(program, program, "--port", "0", "--unixsocket", socket_path, "--dir", folder, "--save",
           "", "--appendonly", "no", "--logfile", "", (char *)NULL);
    _exit(77);
}

/* Nobody tells when a server is ready: it is asked until it answers or has ended.  False: there is
 * none. */
static bool await_server(void)
{
    for (;;) {
        int status;
        context = redisConnectUnix(socket_path);
        if (context && !context->err)
            return true;
        redisFree(context);
        context = NULL;
        if (waitpid(server, &status, WNOHANG) == server) {
            server = 0;
            rmdir(folder);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 77)
                agree_fail("the server ended at once");
            return false;
        }
        sched_yield();
    }
}

static void load_scripts(void)
{
    for (int i = 0; i < TAKT_OPS; i++) {
        const char *words[] = {"SCRIPT", "LOAD", takt_scripts[i].source};
        size_t sizes[] = {6, 4, takt_scripts[i].size};
        redisReply *reply = redisCommandArgv(context, 3, words, sizes);
        if (!reply || reply->type != REDIS_REPLY_STRING ||
            strcmp(reply->str, takt_scripts[i].sha1) != 0)
            agree_fail(reply && reply->str ? reply->str : "no answer to SCRIPT LOAD");
        freeReplyObject(reply);
    }
}

static void listen_to_wakes(void)
{
    listener = redisConnectUnix(socket_path);
    if (!listener || listener->err)
        agree_fail("no second connection");
    redisAppendCommand(listener, "SSUBSCRIBE " NAME);
    for (int i = 0; i < AGREE_WORKERS; i++)
        redisAppendCommand(listener, "SSUBSCRIBE " NAME ":%llx",
                           (unsigned long long)agree_world_worker(i));
    for (int i = 0; i <= AGREE_WORKERS; i++) {
        void *reply;
        if (redisGetReply(listener, &reply) != REDIS_OK ||
            ((redisReply *)reply)->type != REDIS_REPLY_ARRAY)
            agree_fail("no answer to SSUBSCRIBE");
        freeReplyObject(reply);
    }
}

bool agree_server_start(void)
{
    if (!mkdtemp(folder))
        agree_fail("no folder for the server");
    snprintf(socket_path, sizeof socket_path, "%s/redis.sock", folder);
    fflush(stdout);
    server = fork();
    if (server < 0)
        agree_fail("no process for the server");
    if (server == 0)
        run_server();
    atexit(stop_server);
    if (!await_server())
        return false;
    load_scripts();
    listen_to_wakes();
    return true;
}

static redisReply *next_reply(void)
{
    void *reply;

    if (redisGetReply(context, &reply) != REDIS_OK)
        agree_fail(context->errstr);
    return reply;
}

void agree_server_clear(void)
{
    redisAppendCommand(context, "FLUSHALL");
    freeReplyObject(next_reply());
}

/* Its answer is left out, for it stands between those of two steps. */
void agree_server_put(const char *text, size_t size, int64_t expires_at_ms)
{
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "SET " NAME " %b PXAT %lld", text, size, (long long)expires_at_ms);
}

void agree_server_lose_line(void)
{
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "DEL " NAME ":line " NAME ":places");
}

void agree_server_lose_held(void)
{
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "DEL " NAME ":held");
}

void agree_server_lose_text(void)
{
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "DEL " NAME " " NAME ":line " NAME ":places");
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* With so many keys at least.  False: more than so many are needed, and nothing is said. */
static bool send_command(const agree_step *step, const takt_store_call *call, int min, int max)
{
    static takt_script_call script_call;
    const char *words[TAKT_SCRIPT_CALL_MAX + 1];
    size_t sizes[TAKT_SCRIPT_CALL_MAX + 1];
    char now[24];

    for (int i = 0; i < AGREE_ZONES; i++)
        takt_zone_list_add(&script_call.zones, agree_zones[i], strlen(agree_zones[i]));
    script_call.about_us = step->now_us;
    script_call.keys = min;
    if (!takt_script_call_write(&script_call, NAME_SPACE, call))
        agree_fail("no name for the ledger");
    if (script_call.keys > max)
        return false;
    memcpy(words, script_call.arguments, sizeof script_call.arguments);
    memcpy(sizes, script_call.sizes, sizeof script_call.sizes);
    words[script_call.count] = now; /* for the test's clock */
    sizes[script_call.count] = (size_t)snprintf(now, sizeof now, "%" PRId64, step->now_us);
    redisAppendCommandArgv(context, script_call.count + 1, words, sizes);
    return true;
}

/* A claim that can be asked with one key is asked so of a copy of the text.  False: it cannot. */
static bool say_briefly(const agree_step *step)
{
    takt_store_call call = step->call;

    call.key = "copy";
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "DEL " COPY);
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "COPY " NAME " " COPY);
    if (!send_command(step, &call, 0, TAKT_SCRIPT_CALL_BRIEF))
        return false;
    redisAppendCommand(context, "GET " NAME);
    redisAppendCommand(context, "GET " COPY);
    redisAppendCommand(context, "PEXPIRETIME " NAME);
    redisAppendCommand(context, "PEXPIRETIME " COPY);
    return true;
}

void agree_server_send(agree_outcome *ran)
{
    const agree_step *step = &ran->step;

    ran->brief = step->call.op == TAKT_OP_CLAIM && say_briefly(step);
    send_command(step, &step->call, TAKT_SCRIPT_CALL_WHOLE, TAKT_SCRIPT_CALL_NAMES);
    if (ran->wish)
        send_command(step, &step->call, TAKT_SCRIPT_CALL_WITH_PERMITS, TAKT_SCRIPT_CALL_NAMES);
    redisAppendCommand(context, "SPUBLISH " NAME " .");
    redisAppendCommand(context, "GET " NAME);
    redisAppendCommand(context, "HGETALL " NAME ":places");
    redisAppendCommand(context, "ZRANGE " NAME ":line 0 -1 WITHSCORES");
    redisAppendCommand(context, "HKEYS " NAME ":log");
    redisAppendCommand(context, "HGETALL " NAME ":held");
    redisAppendCommand(context, "PEXPIRETIME " NAME);
    redisAppendCommand(context, "PEXPIRETIME " NAME ":line");
    redisAppendCommand(context, "PEXPIRETIME " NAME ":places");
    redisAppendCommand(context, "PEXPIRETIME " NAME ":log");
    redisAppendCommand(context, "PEXPIRETIME " NAME ":held");
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Who was woken by the last call, each on a channel of its own: what came before the mark that was
 * sent behind it. */
static void read_wakes(char wakes[AGREE_WAKES])
{
    char *at = wakes;

    for (*wakes = '\0';;) {
        redisReply *reply;
        const char *worker;
        if (redisGetReply(listener, (void **)&reply) != REDIS_OK)
            agree_fail(listener->errstr);
        if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3 ||
            at + reply->element[1]->len >= wakes + AGREE_WAKES)
            agree_fail("a message that cannot be read, or too many");
        worker = strstr(reply->element[1]->str, "}:");
        if (worker)
            at += sprintf(at, at > wakes ? " %s" : "%s", worker + 2);
        freeReplyObject(reply);
        if (!worker)
            return;
    }
}

static int64_t next_int(void)
{
    redisReply *reply = next_reply();
    int64_t value = reply->integer;

    freeReplyObject(reply);
    return value;
}

/* A call without the key of the holders was answered with a wish for it. */
static bool was_wished(void)
{
    redisReply *reply = next_reply();
    bool wished = reply->type == REDIS_REPLY_ARRAY && reply->elements == 1 &&
                  reply->element[0]->integer == 32;

    freeReplyObject(reply);
    return wished;
}

static void read_brief_answer(agree_brief_answer *brief)
{
    brief->reply = next_reply();
    brief->before = next_reply();
    brief->after = next_reply();
    brief->expired_at_ms = next_int();
    brief->expires_at_ms = next_int();
}

void agree_server_answer(agree_answer *answer, const agree_outcome *ran)
{
    redisReply *text, *places, *line, *log, *held;
    int64_t line_ms, places_ms, log_ms, latest_us;
    char *at = answer->text;

    answer->brief = (agree_brief_answer){.reply = NULL};
    if (ran->brief)
        read_brief_answer(&answer->brief);
    answer->refused = ran->wish && !was_wished();
    answer->reply = next_reply();
    next_int(); /* of the mark */
    read_wakes(answer->wakes);
    text = next_reply();
    places = next_reply();
    line = next_reply();
    log = next_reply();
    held = next_reply();
    answer->expires_at_ms = next_int();
    line_ms = next_int();
    places_ms = next_int();
    log_ms = next_int();
    if (text->type == REDIS_REPLY_STRING) {
        memcpy(at, text->str, text->len);
        at += text->len;
    }
    *at = '\0';
    at = agree_keys_held(at, held, agree_keys_leased(answer->text), next_int());
    at = agree_keys_line(at, places, line, &latest_us);
    *at = '\0';
    answer->size = (size_t)(at - answer->text);
    if (latest_us > 0 && (line_ms * 1000 < latest_us || places_ms * 1000 < latest_us))
        agree_fail("the line's keys expire before its places");
    if (latest_us == 0 && (line_ms != -2 || places_ms != -2))
        agree_fail("the line's keys are there without places");
    agree_keys_log(answer->text, log);
    if (log_ms != (log->elements > 0 ? answer->expires_at_ms : -2))
        agree_fail("the log's pages expire at another time than the ledger");
    freeReplyObject(text);
    freeReplyObject(places);
    freeReplyObject(log);
    freeReplyObject(held);
    freeReplyObject(line);
}

void agree_answer_free(agree_answer *answer)
{
    freeReplyObject(answer->reply);
    freeReplyObject(answer->brief.reply);
    freeReplyObject(answer->brief.before);
    freeReplyObject(answer->brief.after);
}
