/*
 * test_client.c: client.h with a real server: replies as values, bounds, time-outs, error messages,
 * and every way of closing.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "redis/client.h"

#include "store/redis/peer.h"
#include "store/redis/server.h"

struct talk {
    uv_loop_t loop;
    takt_redis *redis;
    int ready, lost, pushed, closed;
    int code; /* of the last loss */
    char text[TAKT_ERROR_TEXT_SIZE];
    char message[64]; /* the last that was pushed */
};

/* A command and its answer. */
struct question {
    takt_redis_command command;
    struct talk *talk;
    int answers, code, values, first;
    takt_reply_type type;
    size_t size;
    int64_t integer;
    char text[256];
    takt_error refused;
};

static void on_ready(void *data)
{
    ((struct talk *)data)->ready++;
}

static void on_lost(void *data, int code, const char *text)
{
    struct talk *talk = data;

    talk->lost++;
    talk->code = code;
    snprintf(talk->text, sizeof talk->text, "%s", text);
}

static void on_pushed(void *data, const takt_reply *reply)
{
    struct talk *talk = data;

    talk->pushed++;
    if (reply->type == TAKT_REPLY_ARRAY && reply->count == 3 && reply[3].type == TAKT_REPLY_STRING)
        snprintf(talk->message, sizeof talk->message, "%s", reply[3].text);
}

static void on_closed(void *data)
{
    ((struct talk *)data)->closed++;
}

static void init(struct talk *talk)
{
    memset(talk, 0, sizeof *talk);
    uv_loop_init(&talk->loop);
}

static void open_url(struct talk *talk, const char *url, takt_redis_options options)
{
    takt_error error = {0};

    if (options.timeout_us == 0)
        options.timeout_us = 30000000;
    options.on_ready = on_ready;
    options.on_lost = on_lost;
    options.on_closed = on_closed;
    options.data = talk;
    cr_assert_eq(takt_redis_open(&talk->redis, &talk->loop, url, &options, &error), 0, "%s",
                 error.text);
    cr_assert_eq(talk->ready + talk->lost, 0, "nothing is told inside the call");
}

static void begin_url(struct talk *talk, const char *url, takt_redis_options options)
{
    init(talk);
    open_url(talk, url, options);
}

static void begin(struct talk *talk, struct server *server, takt_redis_options options)
{
    server_start(server, NULL);
    begin_url(talk, server->url, options);
}

/* Runs the loop, which the connection keeps alive, until *count is at least that. */
static void await(struct talk *talk, const int *count, int min)
{
    while (*count < min)
        cr_assert(uv_run(&talk->loop, UV_RUN_ONCE) != 0, "the loop has nothing to wait for");
}

static void end(struct talk *talk)
{
    takt_redis_close(talk->redis);
    takt_redis_close(talk->redis);
    cr_expect_eq(talk->closed, 0, "not inside the call");
    uv_run(&talk->loop, UV_RUN_DEFAULT);
    cr_expect_eq(talk->closed, 1);
    cr_expect_eq(uv_loop_close(&talk->loop), 0, "nothing is left on the loop");
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    struct question *question = command->data;

    question->answers++;
    question->code = code;
    if (reply == NULL)
        return;
    question->type = reply->type;
    question->size = reply->size;
    question->integer = reply->integer;
    question->values = (int)(takt_reply_after(reply) - reply);
    question->first = reply->count > 0 ? (int)(takt_reply_after(reply + 1) - reply) : 0;
    snprintf(question->text, sizeof question->text, "%s", reply->text);
    if (reply->type == TAKT_REPLY_ERROR)
        (void)takt_redis_refused(question->talk->redis, reply, &question->refused);
}

/* Sends a line of words. */
static void ask(struct talk *talk, struct question *question, const char *line)
{
    static char words[256];
    const char *arguments[16];
    int count = 0;

    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        arguments[count++] = word;
    memset(question, 0, sizeof *question);
    question->talk = talk;
    question->command.answered = on_answered;
    question->command.data = question;
    cr_assert_eq(takt_redis_send(talk->redis, &question->command, count, arguments, NULL), 0);
    cr_assert_eq(question->answers, 0, "not inside the call");
}

static struct question ask_and_wait(struct talk *talk, const char *line)
{
    static struct question question;

    ask(talk, &question, line);
    await(talk, &question.answers, 1);
    return question;
}

Test(client, replies_are_walked)
{
    struct server server;
    struct talk talk;
    struct question question;

    begin(&talk, &server, (takt_redis_options){0});
    cr_expect_eq(takt_redis_is_ready(talk.redis), 0);
    await(&talk, &talk.ready, 1);
    cr_expect_eq(takt_redis_is_ready(talk.redis), 1);
    cr_expect_eq(ask_and_wait(&talk, "INCR n").integer, 1);
    (void)ask_and_wait(&talk, "XADD s 1-0 job a more b");
    (void)ask_and_wait(&talk, "XADD s 2-0 job c");
    question = ask_and_wait(&talk, "XREAD COUNT 9 STREAMS s 0");
    /* [["s", [["1-0", ["job", "a", "more", "b"]], ["2-0", ["job", "c"]]]]] */
    cr_expect_eq(question.values, 16);
    cr_expect_eq(question.first, 16);
    question = ask_and_wait(&talk, "XRANGE s - +");
    cr_expect_eq(question.values, 13);
    cr_expect_eq(question.first, 8);
    cr_expect_eq(ask_and_wait(&talk, "GET nothing").values, 1);
    question = ask_and_wait(&talk, "INCR s");
    cr_expect_eq(question.type, TAKT_REPLY_ERROR);
    cr_expect_eq(question.refused.code, TAKT_E_STORE_FORMAT);
    cr_expect_not_null(strstr(question.refused.text, "(WRONGTYPE)"), "%s", question.refused.text);
    cr_expect_not_null(strstr(question.refused.text, server.socket), "%s", question.refused.text);
    cr_expect_eq(talk.lost, 0);
    end(&talk);
    server_stop(&server);
}

/* Arguments with their sizes; many of them without. */
Test(client, any_bytes)
{
    enum { COUNT = 100 };
    static const char *words[COUNT] = {"RPUSH", "list"};
    struct server server;
    struct talk talk;
    struct question question = {.talk = &talk, .command.answered = on_answered};

    begin(&talk, &server, (takt_redis_options){0});
    await(&talk, &talk.ready, 1);
    question.command.data = &question;
    cr_assert_eq(takt_redis_send(talk.redis, &question.command, 2,
                                 (const char *[]){"ECHO", "a\0\r\nb"}, (size_t[]){4, 5}),
                 0);
    await(&talk, &question.answers, 1);
    cr_expect_eq(question.size, 5);
    for (int i = 2; i < COUNT; i++)
        words[i] = "x";
    cr_assert_eq(takt_redis_send(talk.redis, &question.command, COUNT, words, NULL), 0);
    await(&talk, &question.answers, 2);
    cr_expect_eq(question.integer, COUNT - 2);
    end(&talk);
    server_stop(&server);
}

/* A reply up to the bounds is accepted; a larger one ends the connection with a code of its own. */
Test(client, bounds)
{
    static const struct {
        const char *command;
        bool fits;
    } table[] = {
        {"GETRANGE text 0 2999999", true},
        {"GETRANGE text 0 3000000", false},
        {"LRANGE list 0 1998", true}, /* and the array itself */
        {"LRANGE list 0 1999", false},
    };
    struct server server;
    struct talk talk;
    struct question question;

    begin(&talk, &server,
          (takt_redis_options){.reply_bytes_max = 3000000, .reply_values_max = 2000});
    await(&talk, &talk.ready, 1);
    (void)ask_and_wait(&talk, "SETRANGE text 5000000 x");
    for (int i = 0; i < 250; i++)
        (void)ask_and_wait(&talk, "RPUSH list 1 2 3 4 5 6 7 8");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        int ready = talk.ready;
        question = ask_and_wait(&talk, table[i].command);
        if (table[i].fits) {
            cr_expect_eq(question.code, 0, "%s", table[i].command);
            cr_expect(question.size == 3000000 || question.values == 2000);
            continue;
        }
        cr_expect_eq(question.code, TAKT_E_STORE_SPACE, "%s", table[i].command);
        cr_expect_not_null(strstr(talk.text, "reply is larger than"), "%s", talk.text);
        await(&talk, &talk.ready, ready + 1);
    }
    cr_expect_eq(talk.lost, 2);
    end(&talk);
    server_stop(&server);
}

Test(client, without_bounds_of_ones_own)
{
    struct server server;
    struct talk talk;

    begin(&talk, &server, (takt_redis_options){0});
    await(&talk, &talk.ready, 1);
    (void)ask_and_wait(&talk, "SETRANGE text 20000000 x");
    cr_expect_eq(ask_and_wait(&talk, "GET text").size, 20000001);
    cr_expect_eq(ask_and_wait(&talk, "GET text").size, 20000001, "a second time");
    cr_expect_eq(ask_and_wait(&talk, "INCR n").integer, 1);
    end(&talk);
    server_stop(&server);
}

/* A connection to a server that does not answer is closed; a server that comes back is used
 * again. */
Test(client, patience)
{
    struct server server;
    struct talk talk;
    struct question questions[2];

    begin(&talk, &server, (takt_redis_options){.timeout_us = 1000000});
    await(&talk, &talk.ready, 1);
    kill(server.process, SIGSTOP);
    ask(&talk, &questions[0], "INCR n");
    ask(&talk, &questions[1], "INCR n");
    await(&talk, &questions[1].answers, 1);
    cr_expect_eq(questions[0].code, TAKT_E_STORE_TIMEOUT);
    cr_expect_eq(questions[1].code, TAKT_E_STORE_TIMEOUT);
    cr_expect_eq(talk.code, TAKT_E_STORE_TIMEOUT);
    cr_expect_not_null(strstr(talk.text, "does not answer"), "%s", talk.text);
    cr_expect_eq(
        takt_redis_send(talk.redis, &questions[0].command, 1, (const char *[]){"PING"}, NULL),
        TAKT_E_STORE);
    kill(server.process, SIGCONT);
    await(&talk, &talk.ready, 2);
    cr_expect_eq(ask_and_wait(&talk, "PING").answers, 1);
    end(&talk);
    server_stop(&server);
}

/* A server that greets, and then does not tell the node of the key. */
Test(client, patience_with_a_cluster, .timeout = 60)
{
    struct peer peer;
    struct talk talk;
    char url[64];

    init(&talk);
    peer_listen(&peer, &talk.loop);
    peer.greeting = "+OK\r\n";
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", peer.port);
    open_url(&talk, url, (takt_redis_options){.timeout_us = 200000, .key = "k"});
    await(&talk, &talk.lost, 1);
    cr_expect_eq(talk.code, TAKT_E_STORE_TIMEOUT);
    cr_expect_eq(talk.ready, 0);
    peer_close(&peer);
    end(&talk);
}

/* A blocking command waits until the caller gives it up. */
Test(client, a_reset)
{
    struct server server;
    struct talk talk;
    struct question blocked;

    begin(&talk, &server, (takt_redis_options){.timeout_us = -1});
    await(&talk, &talk.ready, 1);
    ask(&talk, &blocked, "BLPOP list 0");
    while (strstr(server_say(&server, "INFO clients"), "blocked_clients:1") == NULL)
        uv_run(&talk.loop, UV_RUN_NOWAIT);
    takt_redis_reset(talk.redis, TAKT_E_CANCELED, "no more");
    cr_expect_eq(blocked.answers, 1);
    cr_expect_eq(blocked.code, TAKT_E_CANCELED);
    cr_expect_eq(talk.code, TAKT_E_CANCELED);
    takt_redis_reset(talk.redis, TAKT_E_CANCELED, "there is none");
    cr_expect_eq(talk.lost, 1);
    await(&talk, &talk.ready, 2);
    ask(&talk, &blocked, "BLPOP list 0");
    end(&talk);
    cr_expect_eq(blocked.answers, 1);
    cr_expect_eq(blocked.code, TAKT_E_CANCELED);
    server_stop(&server);
}

/* An error after which no command can succeed ends the connection. */
Test(client, a_replica_by_now)
{
    struct server server;
    struct talk talk;
    struct question question;

    begin(&talk, &server, (takt_redis_options){0});
    await(&talk, &talk.ready, 1);
    cr_assert_not_null(strstr(server_say(&server, "REPLICAOF 127.0.0.1 1"), "OK"));
    question = ask_and_wait(&talk, "INCR n");
    cr_expect_eq(question.refused.code, TAKT_E_STORE);
    cr_expect_not_null(strstr(question.refused.text, "READONLY"), "%s", question.refused.text);
    cr_expect_eq(talk.lost, 1);
    cr_assert_not_null(strstr(server_say(&server, "REPLICAOF NO ONE"), "OK"));
    await(&talk, &talk.ready, 2);
    cr_expect_eq(ask_and_wait(&talk, "INCR n").integer, 1);
    end(&talk);
    server_stop(&server);
}

/* Flushed bytes are sent, even if the program ends. */
Test(client, a_flush)
{
    struct server server;
    struct talk talk;
    struct question question;

    begin(&talk, &server, (takt_redis_options){0});
    takt_redis_flush(talk.redis); /* no bytes have come yet */
    await(&talk, &talk.ready, 1);
    ask(&talk, &question, "INCR n");
    takt_redis_flush(talk.redis);
    while (strstr(server_say(&server, "GET n"), "$1\r\n1") == NULL)
        ; /* the loop does not run */
    await(&talk, &question.answers, 1);
    end(&talk);
    server_stop(&server);
}

Test(client, messages)
{
    takt_redis_options options = {.timeout_us = 30000000, .on_pushed = on_pushed};
    struct server server;
    struct talk talk;

    begin(&talk, &server, options);
    await(&talk, &talk.ready, 1);
    cr_assert_eq(takt_redis_send(talk.redis, NULL, 2, (const char *[]){"SUBSCRIBE", "news"}, NULL),
                 0);
    await(&talk, &talk.pushed, 1);
    (void)server_say(&server, "PUBLISH news hello");
    await(&talk, &talk.pushed, 2);
    cr_expect_str_eq(talk.message, "hello");
    end(&talk);
    server_stop(&server);
}

Test(client, urls_that_name_no_server)
{
    static const struct {
        const char *url, *says;
        int code;
    } table[] = {
        {NULL, "a Redis or Valkey server is needed", TAKT_E_STORE_URL},
        {"file:/tmp/x", "a Redis or Valkey server is needed", TAKT_E_STORE_URL},
        {"memory:", "a Redis or Valkey server is needed", TAKT_E_STORE_URL},
        {"http://x", "a Redis or Valkey server is needed", TAKT_E_STORE_URL},
        {"redis://:c4n4ry@", "there is no host", TAKT_E_STORE_URL},
        {"redis://ann@host", "a user but no password", TAKT_E_STORE_ACCESS},
        {"rediss://host?ca=/nowhere/ca.pem", "the file of ca=", TAKT_E_STORE_ACCESS},
    };
    uv_loop_t loop;
    takt_redis_options options = {0};

    uv_loop_init(&loop);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_redis *redis = NULL;
        takt_error error = {0};
        cr_expect_eq(takt_redis_open(&redis, &loop, table[i].url, &options, &error), table[i].code,
                     "%zu: %s", i, error.text);
        cr_expect_not_null(strstr(error.text, table[i].says), "%s", error.text);
        cr_expect_null(strstr(error.text, "c4n4ry"));
        cr_expect_null(redis, "outputs are untouched on failure");
    }
    takt_redis_close(NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(uv_loop_close(&loop), 0);
}

/* Closed at every moment of its life. */
Test(client, closed_at_any_time)
{
    struct server server;
    struct talk talk;

    server_start(&server, NULL);
    for (int turns = 0; turns < 12; turns++) {
        begin_url(&talk, server.url, (takt_redis_options){0});
        for (int i = 0; i < turns; i++)
            uv_run(&talk.loop, UV_RUN_NOWAIT);
        end(&talk);
    }
    server_stop(&server);
}
