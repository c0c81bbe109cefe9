/*
 * test_connection.c: a connection to a real server, and what happens when the server refuses,
 * disconnects, freezes or sends malformed replies.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "redis/backoff.h"
#include "redis/connection.h"
#include "store/redis/peer.h"
#include "store/redis/server.h"

struct talk {
    uv_loop_t loop;
    takt_redis_url url;
    takt_redis_connection *connection;
    int ready, lost, closed;
    int code; /* of the last loss */
    char text[TAKT_ERROR_TEXT_SIZE];
};

/* A command and its answer. */
struct question {
    takt_redis_command command;
    int answers, code, order;
    takt_reply_type type;
    int64_t integer;
    char text[256];
};

static int order;

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

static void on_closed(void *data)
{
    ((struct talk *)data)->closed++;
}

static const takt_redis_connection_events events = {on_ready, on_lost, NULL, on_closed};

static void begin(struct talk *talk, takt_redis_transport transport, const char *rest,
                  uint64_t timeout_ms)
{
    takt_error error = {0};

    memset(talk, 0, sizeof *talk);
    uv_loop_init(&talk->loop);
    cr_assert_eq(takt_redis_url_parse(&talk->url, transport, false, rest, &error), 0, "%s",
                 error.text);
    talk->connection =
        takt_redis_connection_open(&talk->loop, &talk->url, NULL, NULL, timeout_ms, &events, talk);
    cr_assert_not_null(talk->connection);
    cr_assert_eq(talk->ready + talk->lost, 0, "nothing is told inside the call");
}

static void begin_at(struct talk *talk, const struct server *server, const char *options)
{
    char rest[160];

    snprintf(rest, sizeof rest, "%s%s", server->socket, options);
    begin(talk, TAKT_REDIS_UNIX, rest, 30000);
}

/* Runs the loop until *count is at least that. */
static void await(struct talk *talk, const int *count, int min)
{
    uv_timer_t anchor; /* keeps the loop going: the connection does not */

    uv_timer_init(&talk->loop, &anchor);
    uv_timer_start(&anchor, (uv_timer_cb)abort, 250000, 0);
    while (*count < min)
        uv_run(&talk->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&anchor, NULL);
    uv_run(&talk->loop, UV_RUN_NOWAIT);
}

static void end(struct talk *talk)
{
    takt_redis_connection_close(talk->connection);
    takt_redis_connection_close(talk->connection);
    cr_expect_eq(talk->closed, 0, "not inside the call");
    uv_run(&talk->loop, UV_RUN_DEFAULT);
    cr_expect_eq(talk->closed, 1);
    cr_expect_eq(uv_loop_close(&talk->loop), 0, "nothing is left on the loop");
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    struct question *question = (struct question *)command;

    question->answers++;
    question->code = code;
    question->order = ++order;
    if (reply == NULL)
        return;
    question->type = reply->type;
    question->integer = reply->integer;
    snprintf(question->text, sizeof question->text, "%s", reply->text ? reply->text : "");
}

static void ask(struct talk *talk, struct question *question, const char *word, const char *first,
                const char *second)
{
    const char *arguments[] = {word, first, second};
    size_t sizes[] = {strlen(word), first ? strlen(first) : 0, second ? strlen(second) : 0};

    memset(question, 0, sizeof *question);
    question->command.answered = on_answered;
    cr_assert(takt_redis_connection_send(talk->connection, &question->command,
                                         1 + (first != NULL) + (second != NULL), arguments, sizes));
    cr_assert_eq(question->answers, 0, "not inside the call");
}

static struct question ask_and_wait(struct talk *talk, const char *word, const char *first,
                                    const char *second)
{
    struct question question;

    ask(talk, &question, word, first, second);
    await(talk, &question.answers, 1);
    return question;
}

Test(connection, answers_come_in_order)
{
    enum { COUNT = 2000 };
    static struct question questions[COUNT];
    struct server server;
    struct talk talk;

    server_start(&server, NULL);
    begin_at(&talk, &server, "");
    await(&talk, &talk.ready, 1);
    for (int i = 0; i < COUNT; i++)
        ask(&talk, &questions[i], "INCR", "n", NULL);
    await(&talk, &questions[COUNT - 1].answers, 1);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(questions[i].answers, 1);
        cr_assert_eq(questions[i].integer, i + 1);
        cr_assert(i == 0 || questions[i].order == questions[i - 1].order + 1);
    }
    cr_expect_not_null(strstr(server_say(&server, "CLIENT LIST"), " name=takt "));
    end(&talk);
    server_stop(&server);
}

/* More than the system takes at once, both ways. */
Test(connection, large_commands)
{
    enum { COUNT = 200, SIZE = 60000 };
    static struct question questions[COUNT];
    static char text[SIZE + 1];
    struct server server;
    struct talk talk;

    memset(text, 'x', SIZE);
    server_start(&server, NULL);
    begin_at(&talk, &server, "");
    await(&talk, &talk.ready, 1);
    for (int i = 0; i < COUNT; i++)
        ask(&talk, &questions[i], "ECHO", text, NULL);
    await(&talk, &questions[COUNT - 1].answers, 1);
    for (int i = 0; i < COUNT; i++)
        cr_expect(questions[i].answers == 1 && questions[i].type == TAKT_REPLY_STRING);
    end(&talk);
    server_stop(&server);
}

Test(connection, refused)
{
    struct talk talk;
    char rest[64];

    snprintf(rest, sizeof rest, "127.0.0.1:%d", free_port());
    begin(&talk, TAKT_REDIS_TCP, rest, 30000);
    await(&talk, &talk.lost, 2);
    cr_expect_eq(talk.code, TAKT_E_STORE);
    cr_expect_not_null(strstr(talk.text, rest), "%s", talk.text);
    cr_expect_not_null(strstr(talk.text, "Connection refused"), "%s", talk.text);
    end(&talk);
    begin(&talk, TAKT_REDIS_UNIX, "/nowhere/redis.sock", 30000);
    await(&talk, &talk.lost, 2);
    cr_expect_eq(talk.code, TAKT_E_STORE);
    cr_expect_not_null(strstr(talk.text, "unix:/nowhere/redis.sock: cannot connect"), "%s",
                       talk.text);
    end(&talk);
}

Test(connection, by_name)
{
    struct server server;
    struct talk talk;
    char rest[64];

    if (!knows_localhost())
        cr_skip_test(NO_LOCALHOST);
    server_directory(&server);
    server_start_tcp(&server, false, NULL);
    snprintf(rest, sizeof rest, "localhost:%d", server.port);
    begin(&talk, TAKT_REDIS_TCP, rest, 30000);
    await(&talk, &talk.ready, 1);
    cr_expect_eq(talk.lost, 0, "%s", talk.text);
    cr_expect_eq(ask_and_wait(&talk, "INCR", "n", NULL).integer, 1);
    end(&talk);
    server_stop(&server);
}

Test(connection, a_name_that_is_none)
{
    struct talk talk;

    begin(&talk, TAKT_REDIS_TCP, "no-such-host.invalid", 30000);
    await(&talk, &talk.lost, 1);
    cr_expect_eq(talk.code, TAKT_E_STORE);
    cr_expect_not_null(strstr(talk.text, "cannot find the host's address"), "%s", talk.text);
    end(&talk);
}

/* Closed at every moment of its life. */
Test(connection, closed_at_any_time)
{
    struct server server;
    struct talk talk;
    struct question question;

    server_start(&server, NULL);
    for (int turns = 0; turns < 12; turns++) {
        begin_at(&talk, &server, "?db=1");
        for (int i = 0; i < turns; i++)
            uv_run(&talk.loop, UV_RUN_NOWAIT);
        end(&talk);
    }
    begin(&talk, TAKT_REDIS_TCP, "no-such-host.invalid", 30000);
    uv_run(&talk.loop, UV_RUN_NOWAIT);
    end(&talk);
    begin_at(&talk, &server, "");
    await(&talk, &talk.ready, 1);
    ask(&talk, &question, "PING", NULL, NULL);
    end(&talk);
    cr_expect_eq(question.answers, 1);
    cr_expect_eq(question.code, TAKT_E_CANCELED);
    server_stop(&server);
}

Test(connection, logs_in)
{
    static const char *const options[] = {"--requirepass", "c4n4ry", "--user", "ann",   "on",
                                          ">secret",       "~*",     "&*",     "+@all", NULL};
    static const struct {
        const char *options, *password;
        int code; /* 0: welcome */
        const char *says;
    } table[] = {
        {"", "c4n4ry", 0, ""},
        {"?user=ann", "secret", 0, ""},
        {"?user=ann&db=3", "secret", 0, ""},
        {"", "", TAKT_E_STORE_ACCESS, "requires a password"},
        {"", "c4n4ry-not", TAKT_E_STORE_ACCESS, "user or the password is wrong"},
        {"?user=bob", "c4n4ry", TAKT_E_STORE_ACCESS, "user or the password is wrong"},
        {"?db=99", "c4n4ry", TAKT_E_STORE_ACCESS, "no database with this number"},
    };
    struct server server;

    server_start(&server, options);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct talk talk;
        setenv("TAKT_REDIS_PASSWORD", table[i].password, 1);
        begin_at(&talk, &server, table[i].options);
        cr_assert_eq(takt_redis_url_find_password(&talk.url, NULL), 0);
        await(&talk, table[i].code == 0 ? &talk.ready : &talk.lost, 1);
        cr_expect_eq(talk.code, table[i].code, "%zu: %s", i, talk.text);
        cr_expect_not_null(strstr(talk.text, table[i].says), "%s", talk.text);
        cr_expect_null(strstr(talk.text, "c4n4ry"));
        if (table[i].code == 0)
            cr_expect_eq(ask_and_wait(&talk, "INCR", "n", NULL).type, TAKT_REPLY_INTEGER);
        end(&talk);
    }
    server_stop(&server);
}

Test(connection, a_password_that_nobody_wants)
{
    struct server server;
    struct talk talk;

    setenv("TAKT_REDIS_PASSWORD", "c4n4ry", 1);
    server_start(&server, NULL);
    begin_at(&talk, &server, "");
    cr_assert_eq(takt_redis_url_find_password(&talk.url, NULL), 0);
    await(&talk, &talk.lost, 1);
    cr_expect_eq(talk.code, TAKT_E_STORE_ACCESS);
    cr_expect_not_null(strstr(talk.text, "has no password"), "%s", talk.text);
    cr_expect_null(strstr(talk.text, "c4n4ry"));
    end(&talk);
    server_stop(&server);
}

Test(connection, selects)
{
    struct server server;
    struct talk talk;

    server_start(&server, NULL);
    begin_at(&talk, &server, "?db=5");
    await(&talk, &talk.ready, 1);
    (void)ask_and_wait(&talk, "SET", "there", "x");
    cr_expect_not_null(strstr(server_say(&server, "INFO keyspace"), "db5:keys=1"));
    end(&talk);
    server_stop(&server);
}

/* A user who may not even set a connection's name. */
Test(connection, a_name_is_a_nicety)
{
    static const char *const options[] = {"--user", "least", "on",    ">secret",
                                          "~*",     "-@all", "+incr", NULL};
    struct server server;
    struct talk talk;

    setenv("TAKT_REDIS_PASSWORD", "secret", 1);
    server_start(&server, options);
    begin_at(&talk, &server, "?user=least");
    cr_assert_eq(takt_redis_url_find_password(&talk.url, NULL), 0);
    await(&talk, &talk.ready, 1);
    cr_expect_eq(ask_and_wait(&talk, "INCR", "n", NULL).integer, 1);
    end(&talk);
    server_stop(&server);
}

Test(connection, comes_back_after_a_kill)
{
    struct server server;
    struct talk talk;
    struct question questions[3];

    server_start(&server, NULL);
    begin_at(&talk, &server, "");
    await(&talk, &talk.ready, 1);
    kill(server.process, SIGSTOP);
    for (int i = 0; i < 3; i++)
        ask(&talk, &questions[i], "INCR", "n", NULL);
    uv_run(&talk.loop, UV_RUN_NOWAIT);
    server_kill(&server, SIGKILL);
    await(&talk, &talk.lost, 1);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(questions[i].answers, 1);
        cr_expect_eq(questions[i].code, TAKT_E_STORE);
    }
    cr_expect(!takt_redis_connection_ready(talk.connection));
    await(&talk, &talk.lost, 2);
    server_restart(&server, NULL);
    await(&talk, &talk.ready, 2);
    cr_expect_eq(ask_and_wait(&talk, "INCR", "n", NULL).integer, 1);
    end(&talk);
    server_stop(&server);
}

Test(connection, comes_back_after_client_kill)
{
    struct server server;
    struct talk talk;

    server_start(&server, NULL);
    begin_at(&talk, &server, "");
    for (int i = 1; i <= 3; i++) {
        await(&talk, &talk.ready, i);
        cr_expect_eq(ask_and_wait(&talk, "INCR", "n", NULL).integer, i);
        cr_expect_not_null(strstr(server_say(&server, "CLIENT KILL TYPE normal SKIPME yes"), ":1"));
        await(&talk, &talk.lost, i);
        cr_expect_not_null(strstr(talk.text, "closed the connection"), "%s", talk.text);
    }
    end(&talk);
    server_stop(&server);
}

/* Loses the connection behind each answer, and looks at the pauses from a second after the first
 * loss on: how many were shorter than that of a connection that has not worked since that loss? */
static int short_pauses(struct talk *talk, const char *command, int pauses)
{
    uint64_t first_ms = 0, lost_ms, away_ms;
    int found = 0;

    while (pauses > 0) {
        (void)ask_and_wait(talk, command, "n", NULL);
        takt_redis_connection_leave(talk->connection, false, TAKT_E_STORE, "as if lost");
        lost_ms = uv_now(&talk->loop);
        first_ms = first_ms == 0 ? lost_ms : first_ms;
        await(talk, &talk->ready, talk->ready + 1);
        away_ms = lost_ms - first_ms;
        if (away_ms < 1000)
            continue;
        away_ms = away_ms < TAKT_BACKOFF_LONGEST_MS ? away_ms : TAKT_BACKOFF_LONGEST_MS;
        pauses--;
        found += uv_now(&talk->loop) - lost_ms < away_ms / 2;
    }
    return found;
}

/* A server that greets and then answers only with errors, such as a replica, gets longer and longer
 * pauses. One that works does not. */
Test(connection, pauses_grow_until_a_command_succeeds)
{
    struct server server;
    struct talk talk;

    server_start(&server, NULL);
    begin_at(&talk, &server, "");
    await(&talk, &talk.ready, 1);
    cr_expect_eq(short_pauses(&talk, "NONSENSE", 2), 0);
    cr_expect_gt(short_pauses(&talk, "INCR", 5), 0);
    end(&talk);
    server_stop(&server);
}

/* Unsent commands of a connection are lost with it. */
Test(connection, what_was_not_sent_is_forgotten)
{
    struct server server;
    struct talk talk;
    struct question question;

    server_start(&server, NULL);
    begin_at(&talk, &server, "");
    await(&talk, &talk.ready, 1);
    ask(&talk, &question, "INCR", "n", NULL);
    takt_redis_connection_leave(talk.connection, true, TAKT_E_STORE, "no more");
    cr_expect_eq(question.answers, 1);
    await(&talk, &talk.ready, 2);
    cr_expect_eq(ask_and_wait(&talk, "INCR", "n", NULL).integer, 1);
    end(&talk);
    server_stop(&server);
}

Test(connection, too_many_clients)
{
    static const char *const options[] = {"--maxclients", "1", NULL};
    struct server server;
    struct talk one, two;

    server_start(&server, options);
    begin_at(&one, &server, "");
    await(&one, &one.ready, 1);
    begin_at(&two, &server, "");
    await(&two, &two.lost, 1);
    cr_expect_eq(two.code, TAKT_E_STORE);
    cr_expect_not_null(strstr(two.text, "maxclients"), "%s", two.text);
    end(&one);
    await(&two, &two.ready, 1);
    end(&two);
    server_stop(&server);
}

/* A server that is up but does not answer. */
Test(connection, frozen_while_greeting)
{
    struct server server;
    struct talk talk;
    char rest[64];

    server_directory(&server);
    server_start_tcp(&server, false, NULL);
    kill(server.process, SIGSTOP);
    snprintf(rest, sizeof rest, "127.0.0.1:%d", server.port);
    begin(&talk, TAKT_REDIS_TCP, rest, 50);
    await(&talk, &talk.lost, 1);
    cr_expect_eq(talk.code, TAKT_E_STORE_TIMEOUT);
    cr_expect_not_null(strstr(talk.text, "does not answer"), "%s", talk.text);
    kill(server.process, SIGCONT);
    end(&talk);
    server_stop(&server);
}

/* A connection that timed out is closed by RST; an idle one is not. */
Test(connection, leaves_with_a_reset)
{
    for (int reset = 0; reset < 2; reset++) {
        struct peer peer;
        struct talk talk;
        struct question question;
        char rest[64];
        memset(&talk, 0, sizeof talk);
        begin(&talk, TAKT_REDIS_UNIX, "/nowhere", 30000);
        end(&talk);
        uv_loop_init(&talk.loop);
        peer_listen(&peer, &talk.loop);
        peer.greeting = "+OK\r\n";
        snprintf(rest, sizeof rest, "127.0.0.1:%d", peer.port);
        cr_assert_eq(takt_redis_url_parse(&talk.url, TAKT_REDIS_TCP, false, rest, NULL), 0);
        talk.closed = talk.lost = 0;
        talk.connection =
            takt_redis_connection_open(&talk.loop, &talk.url, NULL, NULL, 30000, &events, &talk);
        await(&talk, &talk.ready, 1);
        ask(&talk, &question, "INCR", "n", NULL);
        uv_run(&talk.loop, UV_RUN_NOWAIT);
        takt_redis_connection_leave(talk.connection, reset == 1, TAKT_E_STORE_TIMEOUT, "frozen");
        cr_expect_eq(question.answers, 1);
        cr_expect_eq(question.code, TAKT_E_STORE_TIMEOUT);
        cr_expect_eq(talk.lost, 1);
        while (peer.end == 0)
            uv_run(&talk.loop, UV_RUN_ONCE);
        cr_expect_eq(peer.end, reset ? UV_ECONNRESET : UV_EOF, "%s", uv_strerror(peer.end));
        takt_redis_connection_close(talk.connection);
        peer_close(&peer);
        uv_run(&talk.loop, UV_RUN_DEFAULT);
        cr_expect_eq(uv_loop_close(&talk.loop), 0);
    }
}

/* A server that ends with a command unread leaves an answer and an error at once: both are taken
 * in. */
Test(connection, an_answer_and_an_error_at_once)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char directory[] = "/tmp/takt-test-XXXXXX", bytes[256];
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), accepted;
    struct question questions[2];
    struct talk talk;
    uv_timer_t anchor; /* keeps the loop going */

    cr_assert_not_null(mkdtemp(directory));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", directory);
    cr_assert_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(listen(listener, 1), 0);
    begin(&talk, TAKT_REDIS_UNIX, address.sun_path, 30000);
    uv_timer_init(&talk.loop, &anchor);
    uv_timer_start(&anchor, (uv_timer_cb)abort, 250000, 0);
    while ((accepted = accept(listener, NULL, NULL)) < 0)
        uv_run(&talk.loop, UV_RUN_NOWAIT);
    unlink(address.sun_path); /* no further client connects */
    rmdir(directory);
    while (recv(accepted, bytes, 1, MSG_DONTWAIT | MSG_PEEK) <= 0)
        uv_run(&talk.loop, UV_RUN_NOWAIT);
    cr_assert_gt(recv(accepted, bytes, sizeof bytes, 0), 0, "the greeting");
    cr_assert_eq(send(accepted, "+OK\r\n", 5, 0), 5);
    await(&talk, &talk.ready, 1);
    for (int i = 0; i < 2; i++)
        ask(&talk, &questions[i], "PING", NULL, NULL);
    while (recv(accepted, bytes, 1, MSG_DONTWAIT | MSG_PEEK) <= 0)
        uv_run(&talk.loop, UV_RUN_NOWAIT);
    cr_assert_eq(send(accepted, "+PONG\r\n", 7, 0), 7);
    close(accepted);
    await(&talk, &talk.lost, 1);
    cr_expect_str_eq(questions[0].text, "PONG");
    cr_expect_eq(questions[1].answers, 1);
    cr_expect_eq(questions[1].code, TAKT_E_STORE);
    close(listener);
    uv_close((uv_handle_t *)&anchor, NULL);
    end(&talk);
}

/* Errors that a server may greet us with. */
Test(connection, greeted_with_an_error)
{
    static const struct {
        const char *error;
        int code;
        const char *says;
    } table[] = {
        {"-LOADING Redis is loading the dataset in memory\r\n", TAKT_E_STORE, "loading"},
        {"-BUSY Redis is busy running a script.\r\n", TAKT_E_STORE, "busy"},
        {"-MASTERDOWN Link with MASTER is down\r\n", TAKT_E_STORE, "lost its primary"},
        {"-NOAUTH Authentication required.\r\n", TAKT_E_STORE_ACCESS, "password"},
        {"-DENIED Redis is running in protected mode\r\n", TAKT_E_STORE_ACCESS, "protected"},
        {"-ERR max number of clients reached\r\n", TAKT_E_STORE, "maxclients"},
        {"+OK\r\n+OK\r\n", TAKT_E_STORE, "without a command"},
        {"HTTP/1.0 400 Bad Request\r\n\r\n", TAKT_E_STORE, "does not speak the protocol of Redis"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct talk talk;
        struct peer peer;
        char rest[64];
        memset(&talk, 0, sizeof talk);
        uv_loop_init(&talk.loop);
        peer_listen(&peer, &talk.loop);
        peer.greeting = table[i].error;
        snprintf(rest, sizeof rest, "127.0.0.1:%d", peer.port);
        cr_assert_eq(takt_redis_url_parse(&talk.url, TAKT_REDIS_TCP, false, rest, NULL), 0);
        talk.connection =
            takt_redis_connection_open(&talk.loop, &talk.url, NULL, NULL, 30000, &events, &talk);
        await(&talk, &talk.lost, 1);
        cr_expect_eq(talk.code, table[i].code, "%s", table[i].error);
        cr_expect_not_null(strstr(talk.text, table[i].says), "%s", talk.text);
        takt_redis_connection_close(talk.connection);
        peer_close(&peer);
        uv_run(&talk.loop, UV_RUN_DEFAULT);
        cr_expect_eq(uv_loop_close(&talk.loop), 0);
    }
}

/* One that follows another one, as a store's second connection does. */
Test(connection, a_held_one_is_not_made)
{
    struct server server;
    struct talk talk, other = {.ready = 0};

    server_start(&server, NULL);
    begin_at(&talk, &server, "");
    takt_redis_connection_hold(talk.connection, true);
    other.connection =
        takt_redis_connection_open(&talk.loop, &talk.url, NULL, NULL, 30000, &events, &other);
    cr_assert_not_null(other.connection);
    await(&talk, &other.ready, 1);
    cr_expect_eq(talk.ready + talk.lost, 0, "held from the beginning");
    takt_redis_connection_hold(talk.connection, false);
    await(&talk, &talk.ready, 1);
    takt_redis_connection_hold(talk.connection, true);
    cr_expect(takt_redis_connection_ready(talk.connection), "one that there is stays");
    for (int round = 1; round <= 4; round++) {
        server_say(&server, "CLIENT KILL TYPE normal");
        await(&talk, &other.lost, round);
        await(&talk, &other.ready, 1 + round);
    }
    cr_expect_eq(talk.lost, 1);
    cr_expect_eq(talk.ready, 1, "held after a loss");
    takt_redis_connection_hold(talk.connection, false);
    await(&talk, &talk.ready, 2);
    takt_redis_connection_hold(talk.connection, true); /* closing does not wait for it */
    server_say(&server, "CLIENT KILL TYPE normal");
    await(&talk, &talk.lost, 2);
    takt_redis_connection_close(other.connection);
    end(&talk);
    cr_expect_eq(other.closed, 1);
    server_stop(&server);
}
