/*
 * agree_server.c: a Redis server behind a unix socket, with scripts whose clock the test sets.
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
#define NAME       "takt:{test/any/any}" /* of the first ledger of agree_world.c */
#define COPY       "takt:{test/any/copy}"

static char folder[] = "/tmp/takt-agree-XXXXXX";
static char socket_path[sizeof folder + 16];
static pid_t server;
static redisContext *context, *listener; /* the other one receives the wake-ups */

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

/* A server does not report that it is ready: it is asked until it answers or has ended. False:
 * there is none. */
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
    for (int ledger = 0; ledger < AGREE_LEDGERS; ledger++) {
        redisAppendCommand(listener, "SSUBSCRIBE %s", agree_world_name(ledger));
        for (int i = 0; i < AGREE_WORKERS; i++)
            redisAppendCommand(listener, "SSUBSCRIBE %s:%llx", agree_world_name(ledger),
                               (unsigned long long)agree_world_worker(i));
    }
    for (int i = 0; i < AGREE_LEDGERS * (AGREE_WORKERS + 1); i++) {
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

/* Their answers are skipped, as they are between those of two steps. */
void agree_server_put(int ledger, const char *text, size_t size, int64_t expires_at_ms)
{
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "SET %s %b PXAT %lld", agree_world_name(ledger), text, size,
                       (long long)expires_at_ms);
    redisAppendCommand(context, "CLIENT REPLY SKIP"); /* pages of a log outlive it */
    redisAppendCommand(context, "PEXPIREAT %s:log %lld", agree_world_name(ledger),
                       (long long)expires_at_ms + 1000);
}

void agree_server_lose_line(int ledger)
{
    const char *name = agree_world_name(ledger);

    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "DEL %s:line %s:places", name, name);
}

void agree_server_lose_held(int ledger)
{
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "DEL %s:held", agree_world_name(ledger));
}

void agree_server_lose_text(int ledger)
{
    const char *name = agree_world_name(ledger);

    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "DEL %s %s:line %s:places", name, name, name);
}

/* ---- calls ----------------------------------------------------------------------------------- */

#define ALL_BUT_HELD (TAKT_KEYS_TEXT | TAKT_KEYS_LINE | TAKT_KEYS_LOG)

/* With these keys; 0: in the short form. False: it has none, and nothing is sent. */
static bool send_command(const agree_step *step, const takt_store_call *call, int keys)
{
    static takt_script_call script_call;
    const char *words[TAKT_SCRIPT_CALL_MAX + 1];
    size_t sizes[TAKT_SCRIPT_CALL_MAX + 1];
    char now[24];

    for (int i = 0; i < AGREE_ZONES; i++)
        takt_zone_list_add(&script_call.zones, agree_zones[i], strlen(agree_zones[i]));
    script_call.about_us = step->now_us;
    script_call.keys = keys;
    if (!takt_script_call_write(&script_call, NAME_SPACE, call))
        agree_fail("no name for the ledger");
    if (keys == 0 && script_call.keys != 0)
        return false;
    memcpy(words, script_call.arguments, sizeof script_call.arguments);
    memcpy(sizes, script_call.sizes, sizeof script_call.sizes);
    words[script_call.count] = now; /* for the test's clock */
    sizes[script_call.count] = (size_t)snprintf(now, sizeof now, "%" PRId64, step->now_us);
    redisAppendCommandArgv(context, script_call.count + 1, words, sizes);
    return true;
}

/* Asks with few keys of a copy of the text and the holders.  False: the call has no short form. */
static bool say_of_copy(const agree_step *step, int keys)
{
    takt_store_call call = step->call;

    call.key = "copy";
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "DEL " COPY " " COPY ":held");
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "COPY " NAME " " COPY);
    redisAppendCommand(context, "CLIENT REPLY SKIP");
    redisAppendCommand(context, "COPY " NAME ":held " COPY ":held");
    if (!send_command(step, &call, keys))
        return false;
    redisAppendCommand(context, "GET " NAME);
    redisAppendCommand(context, "GET " COPY);
    redisAppendCommand(context, "PEXPIRETIME " NAME);
    redisAppendCommand(context, "PEXPIRETIME " COPY);
    return true;
}

static void ask_for_keys(const char *name)
{
    redisAppendCommand(context, "GET %s", name);
    redisAppendCommand(context, "HGETALL %s:places", name);
    redisAppendCommand(context, "ZRANGE %s:line 0 -1 WITHSCORES", name);
    redisAppendCommand(context, "HKEYS %s:log", name);
    redisAppendCommand(context, "HGETALL %s:held", name);
    redisAppendCommand(context, "PEXPIRETIME %s", name);
    redisAppendCommand(context, "PEXPIRETIME %s:line", name);
    redisAppendCommand(context, "PEXPIRETIME %s:places", name);
    redisAppendCommand(context, "PEXPIRETIME %s:log", name);
    redisAppendCommand(context, "PEXPIRETIME %s:held", name);
}

void agree_server_send(agree_outcome *ran)
{
    static int64_t steps_sent;
    const agree_step *step = &ran->step;

    ran->brief = step->call.op == TAKT_OP_CLAIM && step->ledger == 0 && say_of_copy(step, 0);
    ran->spared = !ran->wish && steps_sent++ % 4 == 0 && step->ledger == 0 &&
                  step->call.inner_count == 0; /* else it would run twice for inner ledgers */
    if (ran->spared)
        say_of_copy(step, TAKT_KEYS_TEXT);
    send_command(step, &step->call, ALL_BUT_HELD);
    if (ran->wish)
        send_command(step, &step->call, ALL_BUT_HELD | TAKT_KEYS_HELD);
    redisAppendCommand(context, "SPUBLISH " NAME " .");
    ask_for_keys(agree_world_name(step->ledger));
    for (int i = 0; i < step->call.inner_count; i++) {
        const char *name = agree_world_name(step->inner_ledgers[i]);
        ask_for_keys(name);
        if (ran->inner_dead[i]) {
            redisAppendCommand(context, "CLIENT REPLY SKIP");
            redisAppendCommand(context, "DEL %s %s:line %s:places %s:log %s:held", name, name, name,
                               name, name);
        }
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

/* The workers that the last call woke, each on a channel of its own: the messages before the mark
 * that was sent after it. */
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
    bool wished = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                  reply->element[0]->integer == TAKT_FLAG_KEYS &&
                  reply->element[1]->integer == TAKT_KEYS_HELD;

    freeReplyObject(reply);
    return wished;
}

static void read_copy_answer(agree_copy_answer *copy)
{
    copy->reply = next_reply();
    copy->before = next_reply();
    copy->after = next_reply();
    copy->expired_at_ms = next_int();
    copy->expires_at_ms = next_int();
}

static void read_keys(agree_keys *keys)
{
    redisReply *text = keys->first = next_reply(), *places = next_reply(), *line = next_reply();
    redisReply *log = next_reply(), *held = next_reply();
    const char *tenants = NULL;
    int64_t line_ms, places_ms, log_ms, latest_us;
    char *at = keys->text;

    keys->expires_at_ms = next_int();
    line_ms = next_int();
    places_ms = next_int();
    log_ms = next_int();
    if (text->type == REDIS_REPLY_STRING) {
        tenants = strstr(text->str, ";p"); /* and their places, which stand behind the holders */
        size_t size = tenants ? (size_t)(tenants - text->str) : text->len;
        memcpy(at, text->str, size);
        at += size;
    }
    *at = '\0';
    at = agree_keys_held(at, held, agree_keys_leased(keys->text), next_int());
    if (tenants)
        at = stpcpy(at, tenants);
    at = agree_keys_line(keys->text, at, places, line, &latest_us);
    *at = '\0';
    if (latest_us > 0 && (line_ms * 1000 < latest_us || places_ms * 1000 < latest_us))
        agree_fail("the line's keys expire before its places");
    if (latest_us == 0 && (line_ms != -2 || places_ms != -2))
        agree_fail("the line's keys are there without places");
    agree_keys_log(keys->text, log);
    if (log->elements > 0 ? log_ms <= keys->expires_at_ms : log_ms != -2)
        agree_fail("the log's pages do not outlive the ledger");
    freeReplyObject(places);
    freeReplyObject(log);
    freeReplyObject(held);
    freeReplyObject(line);
}

static void free_copy_answer(agree_copy_answer *copy)
{
    freeReplyObject(copy->reply);
    freeReplyObject(copy->before);
    freeReplyObject(copy->after);
}

void agree_server_answer(agree_answer *answer, const agree_outcome *ran)
{
    answer->brief = answer->spared = (agree_copy_answer){.reply = NULL};
    if (ran->brief)
        read_copy_answer(&answer->brief);
    if (ran->spared)
        read_copy_answer(&answer->spared);
    answer->refused = ran->wish && !was_wished();
    answer->reply = next_reply();
    next_int(); /* of the mark */
    read_wakes(answer->wakes);
    read_keys(&answer->own);
    for (int i = 0; i < TAKT_INNER_MAX; i++)
        answer->inner[i].first = NULL;
    for (int i = 0; i < ran->step.call.inner_count; i++)
        read_keys(&answer->inner[i]);
}

void agree_answer_free(agree_answer *answer)
{
    freeReplyObject(answer->reply);
    freeReplyObject(answer->own.first);
    for (int i = 0; i < TAKT_INNER_MAX; i++)
        freeReplyObject(answer->inner[i].first);
    free_copy_answer(&answer->brief);
    free_copy_answer(&answer->spared);
}
