/*
 * test_durable.c: awards that count only when replicas have them, over a real primary and a real
 * replica, which is stopped to make it lag.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/server.h"
#include "store/rig.h"

#define TIMEOUT_US INT64_C(600000000) /* what should not wait for it would hang the test */

#define MANY 40

struct pair {
    struct server primary, replica;
    struct rig rig;
    takt_limit limit;
};

/* With a replica that has the primary's data, and a store with these options. */
static void begin_with(struct pair *pair, const char *options, int64_t timeout_us)
{
    const char *quick[] = {"--repl-diskless-sync-delay", "0", NULL};
    char of[32], url[256];
    const char *follow[] = {"--replicaof", of, NULL};
    takt_error error;

    pair->limit = rig_limit("a", 1000, RIG_DAY, 1000);
    server_directory(&pair->primary);
    server_start_tcp(&pair->primary, false, quick);
    snprintf(of, sizeof of, "127.0.0.1 %d", pair->primary.port);
    server_start(&pair->replica, follow);
    while (strstr(server_say(&pair->primary, "INFO replication"), "state=online") == NULL)
        continue;
    snprintf(url, sizeof url, "%s?%s", pair->primary.url, options);
    cr_assert_eq(rig_try_open(&pair->rig, url, "test", timeout_us, &error), 0, "%s", error.text);
}

static void begin(struct pair *pair, const char *options)
{
    begin_with(pair, options, TIMEOUT_US);
}

static void end(struct pair *pair)
{
    rig_close(&pair->rig);
    server_stop(&pair->replica);
    server_stop(&pair->primary);
}

static int64_t taken(struct pair *pair)
{
    return 1000 - rig_peek(&pair->rig, &pair->limit, "k").remaining;
}

Test(durable, the_replica_has_what_was_awarded)
{
    struct pair pair;
    char answer[256];

    begin(&pair, "replicas=1&replica_timeout=10s");
    for (int i = 1; i <= 50; i++) {
        cr_assert_eq(rig_try(&pair.rig, &pair.limit, "k", 1), 0);
        snprintf(answer, sizeof answer, "%s", server_say(&pair.replica, "GET takt:{test/a/k}"));
        cr_assert_str_eq(server_say(&pair.primary, "GET takt:{test/a/k}"), answer);
    }
    cr_expect_eq(taken(&pair), 50);
    end(&pair);
}

/* Calls of one turn of the loop share a WAIT; calls that award nothing have none. */
Test(durable, one_wait_for_a_turn)
{
    enum { CALLS = 20 };
    struct rig_call calls[CALLS];
    struct pair pair;

    begin(&pair, "replicas=1&replica_timeout=10s");
    cr_assert_eq(rig_try(&pair.rig, &pair.limit, "k", 1), 0); /* loads the script */
    server_say(&pair.primary, "CONFIG RESETSTAT");
    for (int i = 0; i < CALLS; i++) {
        rig_call_init(&calls[i], TAKT_OP_TRY, &pair.limit, "k");
        rig_submit(&pair.rig, &calls[i]);
    }
    for (int i = 0; i < CALLS; i++)
        rig_wait(&pair.rig, &calls[i]);
    cr_expect_eq(taken(&pair), CALLS + 1);
    cr_expect_not_null(
        strstr(server_say(&pair.primary, "INFO commandstats"), "cmdstat_wait:calls=1,"));
    end(&pair);
}

/* An award that the replica does not have is lost, and the next ones are not asked for until it is
 * back: an absent replica does not use up the quota. */
Test(durable, an_absent_replica_costs_one_award)
{
    struct pair pair;

    begin(&pair, "replicas=1&replica_timeout=200ms");
    kill(pair.replica.process, SIGSTOP);
    for (int i = 0; i < 5; i++) {
        cr_expect_eq(rig_try(&pair.rig, &pair.limit, "k", 1), TAKT_E_STORE);
        cr_expect_not_null(strstr(pair.rig.store->trouble, "0 of 1 replicas have acknowledged"));
    }
    cr_expect_eq(taken(&pair), 1);
    kill(pair.replica.process, SIGCONT);
    while (rig_try(&pair.rig, &pair.limit, "k", 1) != 0)
        continue;
    cr_expect_geq(taken(&pair), 2);
    end(&pair);
}

/* The same for claims of many ledgers and of many turns of the loop. They wait for one WAIT, so
 * that other calls of the connection do not wait for one after the other. */
Test(durable, an_absent_replica_costs_one_award_of_many_ledgers)
{
    struct rig_call calls[MANY];
    char keys[MANY][16];
    struct pair pair;
    int64_t lost = 0;

    begin(&pair, "replicas=1&replica_timeout=200ms");
    while (rig_try(&pair.rig, &pair.limit, "k", 1) != 0) /* loads the script */
        continue;
    kill(pair.replica.process, SIGSTOP);
    for (int i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "key-%d", i);
        rig_call_init(&calls[i], TAKT_OP_TRY, &pair.limit, keys[i]);
        rig_submit(&pair.rig, &calls[i]);
        uv_run(&pair.rig.loop, UV_RUN_NOWAIT);
    }
    for (int i = 0; i < MANY; i++) {
        rig_wait(&pair.rig, &calls[i]);
        cr_expect_eq(calls[i].call.status, TAKT_E_STORE);
        lost += 1000 - rig_peek(&pair.rig, &pair.limit, keys[i]).remaining;
    }
    cr_expect_eq(lost, 1);
    kill(pair.replica.process, SIGCONT);
    end(&pair);
}

#define LATE_US INT64_C(400000)
#define LOOKS   4 /* each counts a quarter of the time-out at most: timeout.h */

struct late {
    struct pair pair;
    struct rig_call first, late, looks[LOOKS];
};

/* An answer has come. Submits a try, and lets its time-out pass before the loop goes on. */
static void submit_late(takt_store_call *call)
{
    struct late *late = call->data;

    late->first.done++;
    rig_submit(&late->pair.rig, &late->late);
    for (int i = 0; i < LOOKS; i++) {
        uint64_t since_ns = uv_hrtime();
        while (uv_hrtime() - since_ns < (uint64_t)LATE_US * 1000 / LOOKS)
            continue;
        rig_submit(&late->pair.rig, &late->looks[i]);
    }
}

/* A try that is held back and overdue before its WAIT was sent fails alone. */
Test(durable, a_time_out_before_the_wait, .timeout = 60)
{
    struct late late;
    struct rig *rig = &late.pair.rig;

    begin_with(&late.pair, "replicas=1&replica_timeout=1ms", LATE_US);
    kill(late.pair.replica.process, SIGSTOP);
    while (rig_try(rig, &late.pair.limit, "k", 1) != TAKT_E_STORE ||
           strstr(rig->store->trouble, "replicas have acknowledged") == NULL)
        continue;
    rig_call_init(&late.first, TAKT_OP_PEEK, &late.pair.limit, "k");
    rig_call_init(&late.late, TAKT_OP_TRY, &late.pair.limit, "k");
    for (int i = 0; i < LOOKS; i++)
        rig_call_init(&late.looks[i], TAKT_OP_PEEK, &late.pair.limit, "k");
    late.first.call.done = submit_late;
    late.first.call.data = &late;
    rig_submit(rig, &late.first);
    rig_wait(rig, &late.first);
    rig_wait(rig, &late.late);
    cr_expect_eq(late.late.call.status, TAKT_E_STORE_TIMEOUT);
    for (int i = 0; i < LOOKS; i++)
        rig_wait(rig, &late.looks[i]);
    kill(late.pair.replica.process, SIGCONT);
    end(&late.pair);
}

/* Awards that did not reach the replica are lost when it is promoted, and were never used. */
Test(durable, a_promoted_replica_has_every_award_that_was_used)
{
    struct pair pair;
    int used = 0;

    begin(&pair, "replicas=1&replica_timeout=10s");
    while (used < 10)
        used += rig_try(&pair.rig, &pair.limit, "k", 1) == 0;
    server_say(&pair.replica, "REPLICAOF NO ONE");
    server_kill(&pair.primary, SIGKILL);
    rig_close(&pair.rig);
    cr_assert_eq(rig_try_open(&pair.rig, pair.replica.url, "test", TIMEOUT_US, NULL), 0);
    cr_expect_eq(taken(&pair), used);
    end(&pair);
}

Test(durable, without_a_replica_nothing_is_awarded)
{
    struct pair pair;

    begin(&pair, "replicas=2&replica_timeout=1ms");
    cr_expect_eq(rig_try(&pair.rig, &pair.limit, "k", 1), TAKT_E_STORE);
    cr_expect_not_null(strstr(pair.rig.store->trouble, "of 2 replicas"));
    end(&pair);
}

Test(durable, without_the_right_to_wait)
{
    struct pair pair;

    begin(&pair, "replicas=1&replica_timeout=10s");
    server_say(&pair.primary, "ACL SETUSER default -wait");
    cr_expect_eq(rig_try(&pair.rig, &pair.limit, "k", 1), TAKT_E_STORE_ACCESS);
    cr_expect_not_null(strstr(pair.rig.store->trouble, "+wait"), "%s", pair.rig.store->trouble);
    end(&pair);
}

/* A connection that ends before the replicas have answered fails the calls, and closing, too. */
Test(durable, ends_while_waiting)
{
    struct rig_call calls[2];
    struct pair pair;

    begin(&pair, "replicas=1&replica_timeout=10s");
    kill(pair.replica.process, SIGSTOP);
    for (int i = 0; i < 2; i++) {
        rig_call_init(&calls[i], TAKT_OP_TRY, &pair.limit, "k");
        rig_submit(&pair.rig, &calls[i]);
    }
    while (strstr(server_say(&pair.primary, "INFO clients"), "blocked_clients:1") == NULL)
        uv_run(&pair.rig.loop, UV_RUN_NOWAIT);
    server_say(&pair.primary, "CLIENT KILL TYPE normal SKIPME yes");
    for (int i = 0; i < 2; i++) {
        rig_wait(&pair.rig, &calls[i]);
        cr_expect_eq(calls[i].call.status, TAKT_E_STORE);
    }
    kill(pair.replica.process, SIGCONT);
    end(&pair);
}

/* Replicas answer before the store's time-out, or every award would fail by it. */
Test(durable, replicas_answer_within_the_time_out)
{
    struct rig rig;
    takt_error error;

    cr_expect_eq(rig_try_open(&rig, "redis://127.0.0.1:1?replicas=1&replica_timeout=1s", "test",
                              1000000, &error),
                 TAKT_E_STORE_URL);
    cr_expect_str_eq(
        error.text, "redis: replica_timeout= must be shorter than the store's time-out of 1000 ms");
    rig_close(&rig);
    cr_assert_eq(rig_try_open(&rig, "redis://127.0.0.1:1", "test", 500, &error), 0, "%s",
                 error.text);
    rig_close(&rig);
}
