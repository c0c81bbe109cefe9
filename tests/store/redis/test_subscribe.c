/*
 * test_subscribe.c: a client that has claimed from a ledger gets hints about changes by others.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/server.h"
#include "store/rig.h"

/* A store that counts its hints, and how often it was woken. */
struct listener {
    uv_loop_t loop;
    takt_store *store;
    int hints, wakes;
    char last[128];
    bool closed;
};

static void on_hint(void *data, const char *limit, const char *key)
{
    struct listener *listener = data;

    listener->hints++;
    snprintf(listener->last, sizeof listener->last, "%s|%s", limit, key);
}

static void on_wake(void *data, const char *limit, const char *key)
{
    struct listener *listener = data;

    listener->wakes++;
    snprintf(listener->last, sizeof listener->last, "%s|%s", limit, key);
}

static void on_closed(void *data)
{
    ((struct listener *)data)->closed = true;
}

static void listen_at(struct listener *listener, const char *url)
{
    takt_store_options options = {.name_space = "test",
                                  .timeout_us = 30000000,
                                  .on_hint = on_hint,
                                  .on_wake = on_wake,
                                  .data = listener};
    takt_error error = {0};

    memset(listener, 0, sizeof *listener);
    uv_loop_init(&listener->loop);
    cr_assert_eq(takt_store_open(&listener->store, &listener->loop, url, &options, &error), 0, "%s",
                 error.text);
}

static void stop_listening(struct listener *listener)
{
    takt_store_close(listener->store, on_closed, listener);
    uv_run(&listener->loop, UV_RUN_DEFAULT);
    cr_expect(listener->closed);
    cr_expect_eq(uv_loop_close(&listener->loop), 0);
}

static void on_done(takt_store_call *call)
{
    ++*(int *)call->data;
}

/* An idle handle keeps the loop from waiting: the server's messages are read again and again. */
static void on_idle(uv_idle_t *idle)
{
    (void)idle;
}

/* Runs the listener's loop until the server's clients say so, or the hints are that many, wake-ups
 * among them. */
static void run_until(struct listener *listener, const struct server *server, const char *words,
                      const char *answer, int hints)
{
    uv_idle_t idle;

    uv_idle_init(&listener->loop, &idle);
    uv_idle_start(&idle, on_idle);
    while (answer != NULL ? strstr(server_say(server, words), answer) == NULL
                          : listener->hints + listener->wakes < hints)
        uv_run(&listener->loop, UV_RUN_NOWAIT);
    uv_close((uv_handle_t *)&idle, NULL);
    uv_run(&listener->loop, UV_RUN_NOWAIT);
}

static takt_award award; /* the last one */

static void submit(struct listener *listener, const takt_limit *limit, const char *key,
                   takt_claim *said)
{
    int done = 0;
    takt_store_call call = {.op = TAKT_OP_CLAIM,
                            .limit = limit,
                            .numbers = &limit->numbers,
                            .key = key,
                            .claim = said,
                            .award = &award,
                            .done = on_done,
                            .data = &done};

    takt_store_submit(listener->store, &call);
    while (done == 0)
        uv_run(&listener->loop, UV_RUN_ONCE);
    cr_assert_eq(call.status, 0, "%s", listener->store->trouble);
}

/* 100 of a worker wait. */
static void claim_as(struct listener *listener, const takt_limit *limit, const char *key,
                     uint64_t worker, int64_t seq)
{
    static takt_claim said;

    said = (takt_claim){.worker = worker, .seq = seq, .waiting = 100, .want_count = 1};
    said.wants[0] = (takt_want){100, TAKT_NEVER, 1, 5, {{0}}};
    submit(listener, limit, key, &said);
}

static void claim(struct listener *listener, const takt_limit *limit, const char *key, int64_t seq)
{
    claim_as(listener, limit, key, 7, seq);
}

/* Holds nothing, and wants that many permits, 0 or 1.  Returns how many it is given. */
static int64_t claim_permits(struct listener *listener, const takt_limit *limit, uint64_t worker,
                             int64_t seq, int64_t count)
{
    static takt_claim said;

    said = (takt_claim){.worker = worker, .seq = seq, .waiting = count, .want_count = (int)count};
    said.wants[0] = (takt_want){count, TAKT_NEVER, 1, 5, {{0}}};
    submit(listener, limit, "k", &said);
    return award.holding;
}

/* Worker 8 wants a permit, and listens to nothing. */
static int64_t claim_deaf(struct rig *rig, const takt_limit *limit, int64_t seq)
{
    struct rig_call call;

    rig_call_init(&call, TAKT_OP_CLAIM, limit, "k");
    call.claim = (takt_claim){.worker = 0x8, .seq = seq, .waiting = 1, .want_count = 1};
    call.claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, 5, {{0}}};
    cr_assert_eq(rig_run(rig, &call), 0, "%s", rig->store->trouble);
    return call.award.holding;
}

static void run_op(const char *url, takt_op op, const takt_limit *limit, const char *key)
{
    struct rig rig;
    struct rig_call call;

    rig_open(&rig, url);
    rig_call_init(&call, op, limit, key);
    call.call.for_us = 60000000;
    cr_expect_eq(rig_run(&rig, &call), 0, "%s", rig.store->trouble);
    rig_close(&rig);
}

Test(subscribe, hears_of_what_others_do)
{
    static const takt_op ops[] = {TAKT_OP_BLOCK, TAKT_OP_UNBLOCK, TAKT_OP_RESET};
    takt_limit limit = rig_limit("mail", 10, 1000000, 1);
    struct server server;
    struct listener listener;

    server_start(&server, NULL);
    listen_at(&listener, server.url);
    claim(&listener, &limit, "a/{b}", 1);
    run_until(&listener, &server, "PUBSUB SHARDCHANNELS takt:*", "takt:{test/mail/a%2F%7Bb%7D}", 0);
    for (int i = 0; i < 3; i++) {
        run_op(server.url, TAKT_OP_BLOCK, &limit, "other");
        run_op(server.url, TAKT_OP_PEEK, &limit, "a/{b}");
        run_op(server.url, ops[i], &limit, "a/{b}");
        run_until(&listener, &server, NULL, NULL, i + 1);
        cr_expect_eq(listener.hints, i + 1, "of this ledger alone");
        cr_expect_str_eq(listener.last, "mail|a/{b}");
    }
    stop_listening(&listener);
    server_stop(&server);
}

/* A new listener is told to claim once. Then only the next worker in line is woken when a permit
 * comes free, not the workers behind it, nor listeners to the ledger's own channel. */
Test(subscribe, is_woken_alone)
{
    takt_limit limit = {.name = "mail",
                        .numbers.lookahead_us = 250000,
                        .numbers.concurrency = 1,
                        .numbers.lease_us = 60000000};
    struct server server;
    struct listener holder, next, last;

    server_start(&server, NULL);
    listen_at(&holder, server.url);
    listen_at(&next, server.url);
    listen_at(&last, server.url);
    claim_permits(&holder, &limit, 0x7, 1, 1);
    claim_permits(&next, &limit, UINT64_C(0xfedcba9876543210), 1, 1);
    claim_permits(&last, &limit, 0x9, 1, 1);
    run_until(&next, &server, NULL, NULL, 1);
    run_until(&last, &server, NULL, NULL, 1);
    cr_expect_eq(next.wakes + last.wakes, 2, "what came before they listened was not heard");
    claim_permits(&holder, &limit, 0x7, 2, 0);
    run_until(&next, &server, NULL, NULL, 2);
    cr_expect_eq(next.wakes, 2);
    cr_expect_str_eq(next.last, "mail|k");
    run_op(server.url, TAKT_OP_BLOCK, &limit, "k");
    run_until(&last, &server, NULL, NULL, 2);
    cr_expect_eq(last.wakes, 1, "what was said to another came before the block");
    cr_expect_leq(holder.wakes, 1);
    stop_listening(&holder);
    stop_listening(&next);
    stop_listening(&last);
    server_stop(&server);
}

/* A head that has died does not hear that it is woken: the next one is, at once. */
Test(subscribe, who_does_not_listen_is_stepped_round)
{
    takt_limit limit = {.name = "mail",
                        .numbers.lookahead_us = 250000,
                        .numbers.concurrency = 1,
                        .numbers.lease_us = 60000000};
    struct server server;
    struct listener holder, dead, next;

    server_start(&server, NULL);
    listen_at(&holder, server.url);
    listen_at(&dead, server.url);
    listen_at(&next, server.url);
    claim_permits(&holder, &limit, 0x7, 1, 1);
    claim_permits(&dead, &limit, 0x8, 1, 1);
    claim_permits(&next, &limit, 0x9, 1, 1);
    run_until(&next, &server, NULL, NULL, 1);
    stop_listening(&dead);
    claim_permits(&holder, &limit, 0x7, 2, 0);
    run_until(&next, &server, NULL, NULL, 2);
    cr_expect_eq(claim_permits(&next, &limit, 0x9, 2, 1), 1, "nothing is left to the dead one");
    stop_listening(&holder);
    stop_listening(&next);
    server_stop(&server);
}

/* Its own waiters are next. */
Test(subscribe, who_releases_comes_soon_where_nobody_else_listens)
{
    takt_limit limit = {.name = "mail",
                        .numbers.lookahead_us = 250000,
                        .numbers.concurrency = 1,
                        .numbers.lease_us = 60000000};
    struct server server;
    struct listener holder, dead;

    server_start(&server, NULL);
    listen_at(&holder, server.url);
    listen_at(&dead, server.url);
    claim_permits(&holder, &limit, 0x7, 1, 1);
    claim_permits(&dead, &limit, 0x8, 1, 1);
    stop_listening(&dead);
    cr_expect_eq(claim_permits(&holder, &limit, 0x7, 2, 1), 0, "it is another one's turn");
    cr_expect_eq(award.claim_again_at_us - award.now_us, 250000 / TAKT_LOOKAHEAD_FRACTION_FIRST);
    cr_expect_eq(claim_permits(&holder, &limit, 0x7, 3, 1), 1);
    stop_listening(&holder);
    server_stop(&server);
}

/* One that lives and does not listen loses one turn, and is waited for after that. */
Test(subscribe, who_lives_and_does_not_listen_loses_one_turn)
{
    takt_limit limit = {.name = "mail",
                        .numbers.lookahead_us = 250000,
                        .numbers.concurrency = 1,
                        .numbers.lease_us = 60000000};
    struct server server;
    struct listener holder, next;
    struct rig deaf;

    server_start(&server, NULL);
    rig_open(&deaf, server.url);
    listen_at(&holder, server.url);
    listen_at(&next, server.url);
    claim_permits(&holder, &limit, 0x7, 1, 1);
    cr_expect_eq(claim_deaf(&deaf, &limit, 1), 0);
    claim_permits(&next, &limit, 0x9, 1, 1);
    run_until(&next, &server, NULL, NULL, 1);
    claim_permits(&holder, &limit, 0x7, 2, 0);
    run_until(&next, &server, NULL, NULL, 2);
    cr_expect_eq(claim_permits(&next, &limit, 0x9, 2, 1), 1);
    claim_permits(&holder, &limit, 0x7, 3, 1);
    cr_expect_eq(claim_deaf(&deaf, &limit, 2), 0, "it is the head again");
    claim_permits(&next, &limit, 0x9, 3, 0);
    cr_expect_eq(claim_permits(&holder, &limit, 0x7, 4, 1), 0, "the permit is left to it");
    cr_expect_eq(claim_deaf(&deaf, &limit, 3), 1);
    rig_close(&deaf);
    stop_listening(&holder);
    stop_listening(&next);
    server_stop(&server);
}

/* When a head with a large cost leaves without its tokens, the workers behind it are woken once. */
Test(subscribe, hears_that_a_head_goes)
{
    takt_limit limit = rig_limit("mail", 1, INT64_C(3600000000), 100);
    struct server server;
    static const char subscribers[] = "PUBSUB SHARDNUMSUB takt:{test/mail/k}";
    struct listener head, other;
    static takt_claim said;

    server_start(&server, NULL);
    listen_at(&head, server.url);
    listen_at(&other, server.url);
    for (int seq = 1; seq <= 3; seq++) {
        said = (takt_claim){.worker = 7, .seq = seq, .waiting = seq < 3, .want_count = seq < 3};
        said.wants[0] = (takt_want){1, TAKT_NEVER, seq == 1 ? 30 : 90, 5, {{0}}};
        if (seq == 2)
            run_until(&head, &server, subscribers, ":1\r\n", 0);
        if (seq == 3)
            run_until(&other, &server, subscribers, ":2\r\n", 0);
        submit(&head, &limit, "k", &said);
        if (seq == 2)
            claim_as(&other, &limit, "k", 0x9, 1);
    }
    run_until(&other, &server, NULL, NULL, 1);
    cr_expect_eq(other.hints, 1);
    cr_expect_str_eq(other.last, "mail|k");
    claim_as(&head, &limit, "other", 7, 1); /* what the server said before is read */
    uv_run(&head.loop, UV_RUN_NOWAIT);
    cr_expect_eq(head.hints, 0, "who says it knows it");
    stop_listening(&head);
    stop_listening(&other);
    server_stop(&server);
}

/* The same if a limit without permits drops waiters. */
Test(subscribe, is_told_that_its_waiters_make_way)
{
    takt_limit limit = rig_limit("mail", 1, INT64_C(3600000000), 1);
    struct server server;
    struct listener oldest, newest;

    limit.numbers.max_waiting = 100;
    limit.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    server_start(&server, NULL);
    listen_at(&oldest, server.url);
    listen_at(&newest, server.url);
    claim_as(&oldest, &limit, "k", 0x7, 1);
    run_until(&oldest, &server, NULL, NULL, 1);
    claim_as(&newest, &limit, "k", 0x9, 1);
    run_until(&oldest, &server, NULL, NULL, 2);
    cr_expect_eq(oldest.wakes, 2);
    cr_expect_str_eq(oldest.last, "mail|k");
    stop_listening(&oldest);
    stop_listening(&newest);
    server_stop(&server);
}

/* Many ledgers, and a connection that is lost: all are listened to again. */
Test(subscribe, after_a_loss)
{
    enum { LEDGERS = 200 };
    takt_limit limit = rig_limit("mail", 10, 1000000, 1);
    struct server server;
    struct listener listener;
    char key[16];

    server_start(&server, NULL);
    listen_at(&listener, server.url);
    for (int i = 0; i < LEDGERS; i++) {
        snprintf(key, sizeof key, "%d", i);
        claim(&listener, &limit, key, 1);
    }
    for (int again = 0; again < 3; again++) {
        /* the ledgers and the channel that is tried first */
        run_until(&listener, &server, "PUBSUB SHARDCHANNELS takt:*", "*201\r\n", 0);
        run_op(server.url, TAKT_OP_BLOCK, &limit, "123");
        run_until(&listener, &server, NULL, NULL, again + 1);
        cr_expect_str_eq(listener.last, "mail|123");
        server_say(&server, "CLIENT KILL TYPE pubsub");
    }
    stop_listening(&listener);
    server_stop(&server);
}

/* Older servers have no sharded channels, or a user may not use them. */
Test(subscribe, plain_channels)
{
    static const char *const options[] = {"--rename-command", "SSUBSCRIBE", "",  "--rename-command",
                                          "SPUBLISH",         "",           NULL};
    takt_limit limit = rig_limit("mail", 10, 1000000, 1);
    struct server server;
    struct listener listener;

    server_start(&server, options);
    listen_at(&listener, server.url);
    claim(&listener, &limit, "k", 1);
    run_until(&listener, &server, "PUBSUB CHANNELS takt:*", "takt:{test/mail/k}", 0);
    run_op(server.url, TAKT_OP_BLOCK, &limit, "k");
    run_until(&listener, &server, NULL, NULL, 1);
    cr_expect_str_eq(listener.last, "mail|k");
    stop_listening(&listener);
    server_stop(&server);
}

/* Where nothing can be listened to, everything else works. */
Test(subscribe, no_channels)
{
    static const char *const options[] = {"--rename-command",
                                          "SSUBSCRIBE",
                                          "",
                                          "--rename-command",
                                          "SUBSCRIBE",
                                          "",
                                          "--rename-command",
                                          "SPUBLISH",
                                          "",
                                          "--rename-command",
                                          "PUBLISH",
                                          "",
                                          NULL};
    takt_limit limit = rig_limit("mail", 10, 1000000, 1);
    struct server server;
    struct listener listener;

    server_start(&server, options);
    listen_at(&listener, server.url);
    for (int64_t seq = 1; seq < 50; seq++)
        claim(&listener, &limit, "k", seq);
    run_op(server.url, TAKT_OP_BLOCK, &limit, "k");
    claim(&listener, &limit, "k", 50);
    cr_expect_eq(listener.hints, 0);
    stop_listening(&listener);
    server_stop(&server);
}

Test(subscribe, switched_off)
{
    takt_limit limit = rig_limit("mail", 10, 1000000, 1);
    struct server server;
    struct listener listener;
    char url[200];

    server_start(&server, NULL);
    snprintf(url, sizeof url, "%s?hints=off", server.url);
    listen_at(&listener, url);
    for (int64_t seq = 1; seq < 20; seq++)
        claim(&listener, &limit, "k", seq);
    cr_expect_null(strstr(server_say(&server, "CLIENT LIST TYPE pubsub"), "name=takt"));
    cr_expect_not_null(strstr(server_say(&server, "CLIENT LIST"), "name=takt"));
    stop_listening(&listener);
    server_stop(&server);
}
