/*
 * agree_server.c: a Redis server of our own behind a unix socket, with the scripts that a test's
 * clock can be told to, and its keys read back as one ledger's text.
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

#include "store/redis/ask.h"
#include "store/redis/script.h"

#define NAME_SPACE "test"
#define NAME       "takt:{test/any/any}" /* of what agree_world.c draws */
#define LOG_PAGE   12                    /* entries */
#define TURNS      (INT64_C(1) << 49)    /* of a priority, in the scores of a line */

static char folder[] = "/tmp/takt-agree-XXXXXX";
static char socket_path[sizeof folder + 16];
static pid_t server;
static redisContext *context;

/* ---- the server ------------------------------------------------------------------------------ */

static void stop_server(void)
{
    if (context)
        redisFree(context);
    context = NULL;
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
    for (int i = 0; i < TAKT_SCRIPTS; i++) {
        const char *words[] = {"SCRIPT", "LOAD", takt_scripts[i].source};
        size_t sizes[] = {6, 4, takt_scripts[i].size};
        redisReply *reply = redisCommandArgv(context, 3, words, sizes);
        if (!reply || reply->type != REDIS_REPLY_STRING ||
            strcmp(reply->str, takt_scripts[i].sha1) != 0)
            agree_fail(reply && reply->str ? reply->str : "no answer to SCRIPT LOAD");
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

/* ---- calls ----------------------------------------------------------------------------------- */

void agree_server_send(const agree_step *step)
{
    static takt_ask ask;
    const char *words[TAKT_ASK_MAX + 1];
    size_t sizes[TAKT_ASK_MAX + 1];
    char now[24];

    for (int i = 0; i < AGREE_ZONES; i++)
        takt_zone_list_add(&ask.zones, agree_zones[i], strlen(agree_zones[i]));
    ask.about_us = step->now_us;
    if (!takt_ask_call(&ask, NAME_SPACE, &step->call))
        agree_fail("no name for the ledger");
    memcpy(words, ask.arguments, sizeof ask.arguments);
    memcpy(sizes, ask.sizes, sizeof ask.sizes);
    words[ask.count] = now; /* for the test's clock */
    sizes[ask.count] = (size_t)snprintf(now, sizeof now, "%" PRId64, step->now_us);
    redisAppendCommandArgv(context, ask.count + 1, words, sizes);
    redisAppendCommand(context, "GET " NAME);
    redisAppendCommand(context, "HGETALL " NAME ":places");
    redisAppendCommand(context, "ZRANGE " NAME ":line 0 -1 WITHSCORES");
    redisAppendCommand(context, "HKEYS " NAME ":log");
    redisAppendCommand(context, "PEXPIRETIME " NAME);
    redisAppendCommand(context, "PEXPIRETIME " NAME ":line");
    redisAppendCommand(context, "PEXPIRETIME " NAME ":places");
    redisAppendCommand(context, "PEXPIRETIME " NAME ":log");
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* A place as the text lists it. */
typedef struct listed {
    char text[256];
    int64_t score;
} listed;

typedef struct totals {
    int64_t waiting, workers, members;
    int64_t places[TAKT_PRIORITIES], standing[TAKT_PRIORITIES], wanting[TAKT_PRIORITIES];
    int64_t latest_us, least_us;
} totals;

/* The score of a member of the line; INT64_MIN if it has none. */
static int64_t score_of(const redisReply *line, const char *member)
{
    for (size_t i = 0; i + 1 < line->elements; i += 2)
        if (strcmp(line->element[i]->str, member) == 0)
            return (int64_t)strtod(line->element[i + 1]->str, NULL);
    return INT64_MIN;
}

/* The next place of a worker; *at moves on.  The totals count it, and the line is to agree. */
static void read_place(const char **at, const char *worker, int64_t seq, const redisReply *line,
                       totals *sums, listed *place)
{
    long long turn, wanting, need, waiting, again;
    char member[32], marks[3] = "";
    int priority, taken = 0;
    int64_t expires_us = -score_of(line, worker);
    bool aside;

    if (sscanf(*at, ";%d,%lld,%lld,%lld,%lld,%lld%n", &priority, &turn, &wanting, &need, &waiting,
               &again, &taken) != 6)
        agree_fail("a place that cannot be read");
    *at += taken;
    if (**at == ',' && sscanf(*at, ",%2[af]%n", marks, &taken) == 1)
        *at += taken;
    aside = strchr(marks, 'a') != NULL;
    place->score = priority * TURNS + turn;
    snprintf(place->text, sizeof place->text,
             ";w%s,%" PRId64 ",%d,%lld,%lld,%lld,%lld,%lld,%" PRId64 "%s%s", worker, seq, priority,
             turn, wanting, need, waiting, again, expires_us, *marks ? "," : "", marks);
    snprintf(member, sizeof member, "%s:%d", worker, priority);
    if (score_of(line, member) != (aside ? INT64_MIN : place->score))
        agree_fail("the order of the line is not that of its places");
    sums->waiting += waiting;
    sums->workers += strchr(marks, 'f') != NULL;
    sums->members += !aside;
    sums->places[priority]++;
    sums->standing[priority] += !aside;
    sums->wanting[priority] += aside ? 0 : wanting;
    sums->latest_us = expires_us > sums->latest_us ? expires_us : sums->latest_us;
    sums->least_us = expires_us < sums->least_us ? expires_us : sums->least_us;
}

/* The totals that the line keeps are those of its places. */
static void check_totals(const char *text, const totals *sums)
{
    char expected[1024];
    long long least, kept;
    int n = snprintf(expected, sizeof expected, "%" PRId64 ",%" PRId64 ",%" PRId64 ",",
                     sums->waiting, sums->workers, sums->latest_us);

    if (strncmp(text, expected, (size_t)n) != 0 ||
        sscanf(text + n, "%lld,%lld%n", &least, &kept, &n) != 2 || least > sums->least_us)
        agree_fail("the line's totals are not those of its places");
    text = strchr(text, ';');
    n = 0;
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        if (sums->places[i] > 0)
            n += snprintf(expected + n, sizeof expected - (size_t)n,
                          ";%d,%" PRId64 ",%" PRId64 ",%" PRId64, i, sums->places[i],
                          sums->standing[i], sums->wanting[i]);
    if (!text || strcmp(text, expected) != 0)
        agree_fail("the totals of the line's priorities are not those of its places");
}

static int by_score(const void *a, const void *b)
{
    int64_t left = ((const listed *)a)->score, right = ((const listed *)b)->score;

    return (left > right) - (left < right);
}

/* The line as the text lists it, appended at `at`; *latest_us is when its last worker is taken for
 * dead. */
static char *write_line(char *at, const redisReply *places, const redisReply *line,
                        int64_t *latest_us)
{
    static listed list[AGREE_WORKERS * TAKT_PRIORITIES];
    totals sums = {.least_us = INT64_MAX};
    const char *all = NULL;
    size_t count = 0, workers = 0;

    for (size_t i = 0; i + 1 < places->elements; i += 2) {
        const char *worker = places->element[i]->str, *record = places->element[i + 1]->str;
        char *end;
        int64_t seq;
        if (strcmp(worker, "all") == 0) {
            all = record;
            continue;
        }
        workers++;
        seq = strtoll(record, &end, 10);
        for (const char *next = end; *next; count++)
            read_place(&next, worker, seq, line, &sums, &list[count]);
    }
    if ((all == NULL) != (count == 0) || line->elements != 2 * (workers + (size_t)sums.members))
        agree_fail("the line's keys are not those of its places");
    if (all)
        check_totals(all, &sums);
    *latest_us = sums.latest_us;
    qsort(list, count, sizeof *list, by_score);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, list[i].text);
    return at;
}

/* There are pages for the entries that the text tells of, and no others. */
static void check_log(const char *text, const redisReply *log)
{
    size_t pages = 0;

    for (const char *at = strchr(text, '#'); at; at = strchr(at + 1, '#')) {
        long long first, next;
        int book;
        if (sscanf(at, "#%d,%lld,%lld", &book, &first, &next) != 3)
            agree_fail("a log that cannot be read");
        for (long long page = first / LOG_PAGE; page * LOG_PAGE < next; page++, pages++) {
            char field[64];
            size_t i = 0;
            snprintf(field, sizeof field, "%d:%lld", book, page);
            while (i < log->elements && strcmp(log->element[i]->str, field) != 0)
                i++;
            if (i == log->elements)
                agree_fail("a page of a log is missing");
        }
    }
    if (log->elements != pages)
        agree_fail("there are pages that no log has");
}

static int64_t next_int(void)
{
    redisReply *reply = next_reply();
    int64_t value = reply->integer;

    freeReplyObject(reply);
    return value;
}

void agree_server_answer(agree_answer *answer)
{
    redisReply *text, *places, *line, *log;
    int64_t line_ms, places_ms, log_ms, latest_us;
    char *at = answer->text;

    answer->reply = next_reply();
    text = next_reply();
    places = next_reply();
    line = next_reply();
    log = next_reply();
    if (text->type == REDIS_REPLY_STRING) {
        memcpy(at, text->str, text->len);
        at += text->len;
    }
    at = write_line(at, places, line, &latest_us);
    *at = '\0';
    answer->size = (size_t)(at - answer->text);
    answer->expires_at_ms = next_int();
    line_ms = next_int();
    places_ms = next_int();
    log_ms = next_int();
    if (latest_us > 0 && (line_ms * 1000 < latest_us || places_ms * 1000 < latest_us))
        agree_fail("the line's keys expire before its places");
    if (latest_us == 0 && (line_ms != -2 || places_ms != -2))
        agree_fail("the line's keys are there without places");
    check_log(answer->text, log);
    if (log_ms != (log->elements > 0 ? answer->expires_at_ms : -2))
        agree_fail("the log's pages expire at another time than the ledger");
    freeReplyObject(text);
    freeReplyObject(places);
    freeReplyObject(log);
    freeReplyObject(line);
}

void agree_answer_free(agree_answer *answer)
{
    freeReplyObject(answer->reply);
}
