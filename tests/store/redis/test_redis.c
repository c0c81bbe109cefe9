/*
 * test_redis.c: the store over a real server: what only such a store can suffer.  What every store
 * must do is in ../test_contract.c.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/line.h"
#include "core/tenant_name.h"
#include "store/redis/script.h"
#include "store/redis/server.h"
#include "store/rig.h"
#include "zone/zone_load.h"

#define TIMEOUT_US INT64_C(600000000) /* what should not wait for it would hang the test */
#define CANARY     "c4n4ry"

static void open_at(struct rig *rig, const char *url, int64_t timeout_us)
{
    takt_error error = {0};

    cr_assert_eq(rig_try_open(rig, url, "test", timeout_us, &error), 0, "%s", error.text);
}

static void open_with(struct rig *rig, const struct server *server, const char *options)
{
    char url[256];

    snprintf(url, sizeof url, "%s%s", server->url, options);
    open_at(rig, url, TIMEOUT_US);
}

static void open_tcp(struct rig *rig, const struct server *server, int64_t timeout_us)
{
    char url[64];

    snprintf(url, sizeof url, "redis://127.0.0.1:%d", server->port);
    open_at(rig, url, timeout_us);
}

static bool troubled(const struct rig *rig, const char *words)
{
    return rig->store->trouble != NULL && strstr(rig->store->trouble, words) != NULL;
}

/* Many calls in one pipeline, while another client flushes the scripts: each call runs exactly
 * once. */
Test(redis, scripts_flushed_in_a_pipeline)
{
    enum { ROUNDS = 40, CALLS = 250 };
    static struct rig_call calls[CALLS];
    takt_limit limit = rig_limit("a", 1000000, 10000 * RIG_DAY, 1000000);
    struct server server;
    struct rig rig;

    server_start(&server, NULL);
    open_with(&rig, &server, "");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CALLS; i++) {
            rig_call_init(&calls[i], TAKT_OP_TRY, &limit, "k");
            rig_submit(&rig, &calls[i]);
            if (i == CALLS / 3)
                server_say(&server, "SCRIPT FLUSH");
            if (i % 50 == 0)
                uv_run(&rig.loop, UV_RUN_NOWAIT);
        }
        server_say(&server, "SCRIPT FLUSH");
        for (int i = 0; i < CALLS; i++) {
            rig_wait(&rig, &calls[i]);
            cr_assert_eq(calls[i].call.status, 0, "%s", takt_strerror(calls[i].call.status));
        }
    }
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 1000000 - ROUNDS * CALLS);
    rig_close(&rig);
    server_stop(&server);
}

/* Claims are loaded once, however many find the script missing. */
Test(redis, a_script_is_loaded_once)
{
    enum { CALLS = 100 };
    static struct rig_call calls[CALLS];
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;
    struct rig rig;

    server_start(&server, NULL);
    open_with(&rig, &server, "");
    for (int i = 0; i < CALLS; i++) {
        rig_call_init(&calls[i], TAKT_OP_TRY, &limit, "k");
        rig_submit(&rig, &calls[i]);
    }
    for (int i = 0; i < CALLS; i++)
        rig_wait(&rig, &calls[i]);
    cr_expect_not_null(
        strstr(server_say(&server, "INFO commandstats"), "cmdstat_script|load:calls=1,"));
    rig_close(&rig);
    server_stop(&server);
}

/* The server gives the scripts the names that we know them by. */
Test(redis, scripts_have_their_names)
{
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;
    struct rig rig;
    char words[512] = "SCRIPT EXISTS";

    server_start(&server, NULL);
    open_with(&rig, &server, "");
    for (int op = 0; op < TAKT_OPS; op++) {
        takt_policy_exchange exchange = {.text = "", .change = "0\t0\twho\twhat"};
        struct rig_call call;
        rig_call_init(&call, (takt_op)op, &limit, "k");
        call.claim = (takt_claim){.worker = 1, .seq = 1};
        call.call.for_us = 1;
        call.call.exchange = op >= TAKT_OP_POLICY ? &exchange : NULL;
        cr_expect_eq(rig_run(&rig, &call), op == TAKT_OP_TRY ? call.call.status : 0);
        strcat(strcat(words, " "), takt_scripts[op].sha1);
    }
    cr_expect_str_eq(server_say(&server, words),
                     "*11\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n");
    rig_close(&rig);
    server_stop(&server);
}

Test(redis, preloaded_scripts)
{
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;
    struct rig hardened, loader;

    server_start(&server, NULL);
    open_with(&hardened, &server, "?scripts=preloaded");
    cr_expect_eq(rig_try(&hardened, &limit, "k", 1), TAKT_E_STORE_ACCESS);
    cr_expect(troubled(&hardened, "scripts=preloaded"));
    open_with(&loader, &server, "");
    cr_expect_eq(rig_try(&loader, &limit, "k", 1), 0);
    cr_expect_eq(rig_try(&hardened, &limit, "k", 1), 0);
    cr_expect_null(hardened.store->trouble, "all is well again");
    rig_close(&loader);
    rig_close(&hardened);
    server_stop(&server);
}

Test(redis, may_not_load_scripts)
{
    static const char *const options[] = {"--user",  "ann",     "on",    ">" CANARY,
                                          "~takt:*", "&takt:*", "-@all", "+evalsha",
                                          "+@read",  "+@write", "+time", NULL};
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;
    struct rig rig;

    setenv("TAKT_REDIS_PASSWORD", CANARY, 1);
    server_start(&server, options);
    open_with(&rig, &server, "?user=ann");
    for (int again = 0; again < 2; again++) {
        cr_expect_eq(rig_try(&rig, &limit, "k", 1), TAKT_E_STORE_ACCESS);
        cr_expect(troubled(&rig, "+script|load"), "%s", rig.store->trouble);
        cr_expect(!troubled(&rig, CANARY));
    }
    server_say(&server, "ACL SETUSER ann +script|load");
    server_say(&server, "CLIENT KILL USER ann");
    while (rig_try(&rig, &limit, "k", 1) != 0)
        continue;
    rig_close(&rig);
    server_stop(&server);
}

/* The rights that docs/redis.md lists: all that takt does goes with them, and little else does. */
/* clang-format off */
static const char *const min[] = {
    "--user", "worker", "on", ">" CANARY, "resetkeys", "~takt:*", "resetchannels", "&takt:*",
    "-@all", "+evalsha", "+script|load", "+select", "+client|setname", "+time", "+get", "+set",
    "+del", "+unlink", "+pexpireat", "+hget", "+hset", "+hdel", "+hlen", "+hmget", "+hgetall", "+zadd",
    "+zrem", "+zcount", "+zrange", "+zrangebyscore", "+zrevrangebyscore", "+publish", "+spublish",
    "+subscribe", "+unsubscribe", "+ssubscribe", "+sunsubscribe", NULL};
/* clang-format on */

static takt_limit log_limit(void)
{
    takt_limit limit = rig_limit("log", 100, 1000000, 1);

    limit.numbers.rules[0] = (takt_rule){
        .algorithm = takt_algorithm_named("sliding-log"), .limit = 1000, .period_us = 1000000};
    cr_assert_eq(takt_rule_prepare(&limit.numbers.rules[0], NULL), 0);
    return limit;
}

/* Crowds that come and go, in two kinds of limits; blocks, resets. */
static void use_everything(struct rig *rig)
{
    takt_limit limits[] = {rig_limit("a", 100, 1000000, 10), log_limit()};

    for (int step = 0; step < 600; step++) {
        struct rig_call call;
        rig_call_init(&call, step % 50 == 49 ? (takt_op)(step / 50 % 6) : TAKT_OP_CLAIM,
                      &limits[step % 2], "k");
        call.call.for_us = 1;
        call.claim.worker = (uint64_t)(step / 2 % 9) + 1;
        call.claim.seq = step + 1;
        call.claim.waiting = step % 5 * 10;
        call.claim.want_count = step % 5 > 0;
        call.claim.wants[0] = (takt_want){call.claim.waiting, TAKT_NEVER, 1, step % 3, {{0}}};
        (void)rig_run(rig, &call);
        cr_assert(call.call.status == 0 || call.call.status == TAKT_E_NO_SLOT, "step %d: %s", step,
                  rig->store->trouble);
    }
}

Test(redis, the_least_user)
{
    struct server server;
    struct rig rig;

    setenv("TAKT_REDIS_PASSWORD", CANARY, 1);
    server_start(&server, min);
    open_with(&rig, &server, "?user=worker&db=1");
    use_everything(&rig);
    rig_close(&rig);
    cr_expect_null(strstr(server_say(&server, "ACL LOG"), "reason"));
    server_stop(&server);
}

Test(redis, what_the_least_user_may_not)
{
    static const char *const words[] = {
        "FLUSHALL", "CONFIG GET maxmemory", "KEYS takt:*",  "GET other", "SET other x",
        "EVAL x 0", "SUBSCRIBE other",      "SCRIPT FLUSH", "ACL LIST",  "SHUTDOWN"};
    struct server server;

    server_start(&server, min);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char line[128];
        snprintf(line, sizeof line, "AUTH worker " CANARY "\r\n%s", words[i]);
        cr_expect_not_null(strstr(server_say(&server, line), "+OK\r\n-NOPERM"), "%s: %s", words[i],
                           server_say(&server, line));
    }
    server_stop(&server);
}

/* A frozen server is given up after its time-out, and used again when it continues. */
Test(redis, frozen)
{
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;
    struct rig rig, patient;

    server_directory(&server);
    server_start_tcp(&server, false, NULL);
    open_tcp(&rig, &server, 2000000);
    while (rig_try(&rig, &limit, "other", 1) != 0)
        continue;
    kill(server.process, SIGSTOP);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), TAKT_E_STORE_TIMEOUT);
    cr_expect(troubled(&rig, "does not answer in time"), "%s", rig.store->trouble);
    kill(server.process, SIGCONT);
    while (rig_try(&rig, &limit, "other", 1) != 0)
        continue;
    cr_expect_null(rig.store->trouble);
    /* a call that the server's system had received may run once when the server continues */
    open_tcp(&patient, &server, TIMEOUT_US);
    cr_expect_geq(rig_peek(&patient, &limit, "k").remaining, 999);
    rig_close(&patient);
    rig_close(&rig);
    server_stop(&server);
}

/* Here it is this program that was busy for so long: the answer has come long ago, and counts. */
Test(redis, busy_itself)
{
    enum { TIMEOUT_MS = 200 };
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct rig_call calls[2];
    struct server server;
    struct rig rig;
    uint64_t begun_ns;

    server_directory(&server);
    server_start_tcp(&server, false, NULL);
    open_tcp(&rig, &server, TIMEOUT_MS * 1000);
    while (rig_try(&rig, &limit, "k", 1) != 0)
        continue;
    for (int i = 0; i < 2; i++) {
        rig_call_init(&calls[i], TAKT_OP_TRY, &limit, "k");
        rig_submit(&rig, &calls[i]);
    }
    begun_ns = uv_hrtime();
    uv_run(&rig.loop, UV_RUN_NOWAIT);
    server_say(&server, "PING"); /* which the server answers after the calls */
    while (uv_hrtime() < begun_ns + 2 * TIMEOUT_MS * UINT64_C(1000000))
        continue;
    for (int i = 0; i < 2; i++) {
        rig_wait(&rig, &calls[i]);
        cr_expect_eq(calls[i].call.status, 0, "%s", rig.store->trouble);
    }
    rig_close(&rig);
    server_stop(&server);
}

/* The machine was stopped, this program and the server on it: neither an answer nor a greeting is
 * late. */
Test(redis, stopped_with_its_server)
{
    enum { TIMEOUT_MS = 1000 };
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct rig_call calls[2];
    struct server server;
    struct rig rigs[2];
    uint64_t begun_ns;

    server_directory(&server);
    server_start_tcp(&server, false, NULL);
    open_tcp(&rigs[0], &server, TIMEOUT_MS * 1000);
    while (rig_try(&rigs[0], &limit, "k", 1) != 0)
        continue;
    kill(server.process, SIGSTOP);
    open_tcp(&rigs[1], &server, TIMEOUT_MS * 1000);
    for (int i = 0; i < 2; i++) {
        rig_call_init(&calls[i], TAKT_OP_TRY, &limit, "k");
        rig_submit(&rigs[i], &calls[i]);
        uv_run(&rigs[i].loop, UV_RUN_NOWAIT); /* sends it, or begins to connect */
    }
    begun_ns = uv_hrtime();
    while (uv_hrtime() < begun_ns + 2 * TIMEOUT_MS * UINT64_C(1000000))
        continue;
    for (int i = 0; i < 2; i++)
        uv_run(&rigs[i].loop, UV_RUN_NOWAIT); /* sees what time it is */
    kill(server.process, SIGCONT);
    for (int i = 0; i < 2; i++) {
        rig_wait(&rigs[i], &calls[i]);
        cr_expect_eq(calls[i].call.status, 0, "%d: %s", i, rigs[i].store->trouble);
        rig_close(&rigs[i]);
    }
    server_stop(&server);
}

/* All sent calls fail with the server; unsent ones go to the next connection. */
Test(redis, killed_and_back)
{
    enum { CALLS = 20 };
    static struct rig_call said[CALLS], unsaid[CALLS];
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;
    struct rig rig;

    server_start(&server, NULL);
    open_with(&rig, &server, "");
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    kill(server.process, SIGSTOP);
    for (int i = 0; i < CALLS; i++) {
        rig_call_init(&said[i], TAKT_OP_TRY, &limit, "k");
        rig_submit(&rig, &said[i]);
    }
    uv_run(&rig.loop, UV_RUN_NOWAIT);
    server_kill(&server, SIGKILL);
    for (int i = 0; i < CALLS; i++) {
        rig_wait(&rig, &said[i]);
        cr_expect_eq(said[i].call.status, TAKT_E_STORE);
    }
    cr_expect(troubled(&rig, server.socket), "%s", rig.store->trouble);
    for (int i = 0; i < CALLS; i++) {
        rig_call_init(&unsaid[i], TAKT_OP_TRY, &limit, "k");
        rig_submit(&rig, &unsaid[i]);
    }
    server_restart(&server, NULL);
    for (int i = 0; i < CALLS; i++) {
        rig_wait(&rig, &unsaid[i]);
        cr_expect_eq(unsaid[i].call.status, 0, "%s", rig.store->trouble);
    }
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 1000 - CALLS);
    rig_close(&rig);
    server_stop(&server);
}

/* Without a server the first call fails at once, and so do all calls except claims, which wait for
 * the next attempt. */
Test(redis, no_server)
{
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct rig_call claim, look;
    struct server server;
    struct rig rig;

    server_start(&server, NULL);
    server_kill(&server, SIGKILL);
    open_with(&rig, &server, "");
    rig_call_init(&claim, TAKT_OP_CLAIM, &limit, "k");
    claim.claim = (takt_claim){.worker = 1, .seq = 1, .waiting = 1, .want_count = 1};
    claim.claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, 5, {{0}}};
    cr_expect_eq(rig_run(&rig, &claim), TAKT_E_STORE);
    cr_expect(troubled(&rig, "cannot connect"), "%s", rig.store->trouble);
    claim.claim.seq++;
    rig_submit(&rig, &claim);
    rig_call_init(&look, TAKT_OP_PEEK, &limit, "k");
    rig_submit(&rig, &look);
    uv_run(&rig.loop, UV_RUN_NOWAIT); /* one turn, in which no other attempt is made yet */
    cr_expect_eq(look.done, 1, "a look does not wait for the claim before it");
    cr_expect_eq(look.call.status, TAKT_E_STORE);
    server_restart(&server, NULL);
    rig_wait(&rig, &claim);
    if (claim.call.status != 0) { /* the attempt that it waited for may have come too early */
        claim.claim.seq++;
        while (rig_run(&rig, &claim) != 0)
            claim.claim.seq++;
    }
    cr_expect_eq(claim.award.run_count, 1);
    rig_close(&rig);
    server_stop(&server);
}

static void claim_for(struct rig_call *claim, const takt_limit *limit, const char *key, int number,
                      int64_t waiting)
{
    static char names[TAKT_TENANTS_MAX + 1][16];

    snprintf(names[number], sizeof names[number], "tenant %d", number);
    rig_call_init(claim, TAKT_OP_CLAIM, limit, key);
    claim->claim = (takt_claim){.worker = takt_tenant_worker(1, names[number]),
                                .process = 1,
                                .seq = waiting > 0 ? 1 : 2,
                                .waiting = waiting,
                                .tenant = names[number],
                                .want_count = waiting > 0};
    claim->claim.wants[0] = (takt_want){waiting, TAKT_NEVER, 1, 5, {{0}}};
}

/* Claims for one tenant more than there can be.  False: a busy server took so long that the places
 * of the first ones may have expired. */
static bool fill(struct rig *rig, struct rig_call claims[TAKT_TENANTS_MAX + 1],
                 const takt_limit *limit, const char *key)
{
    cr_assert_eq(rig_try(rig, limit, key, 1), 0);
    for (int i = 0; i <= TAKT_TENANTS_MAX; i++) {
        claim_for(&claims[i], limit, key, i, 1);
        rig_submit(rig, &claims[i]);
    }
    for (int i = 0; i <= TAKT_TENANTS_MAX; i++) {
        rig_wait(rig, &claims[i]);
        cr_assert_eq(claims[i].call.status, 0);
    }
    return claims[TAKT_TENANTS_MAX].award.now_us - claims[0].award.now_us <
           TAKT_SILENT_US - TAKT_KEEPALIVE_US / 2;
}

/* A ledger has 256 tenants: one more has no place, and comes into line when another leaves. */
Test(redis, one_tenant_too_many)
{
    static struct rig_call claims[TAKT_TENANTS_MAX + 1];
    static takt_tenant_standing tenants[TAKT_TENANTS_MAX];
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct rig_call look, gone;
    struct server server;
    struct rig rig;
    char key[16] = "";
    int fills = 0;

    server_start(&server, NULL);
    open_with(&rig, &server, "");
    do {
        cr_assert_lt(fills, 20, "the server takes too long each time");
        snprintf(key, sizeof key, "k%d", fills++);
    } while (!fill(&rig, claims, &limit, key));
    for (int i = 0; i <= TAKT_TENANTS_MAX; i++)
        cr_expect_eq(claims[i].award.in_line != 0, i < TAKT_TENANTS_MAX, "tenant %d", i);
    cr_expect_eq(claims[TAKT_TENANTS_MAX].award.claim_again_at_us,
                 claims[TAKT_TENANTS_MAX].award.now_us + TAKT_KEEPALIVE_US);
    rig_call_init(&look, TAKT_OP_PEEK, &limit, key);
    look.call.tenants = tenants;
    cr_assert_eq(rig_run(&rig, &look), 0);
    cr_expect_eq(look.call.standing.tenant_count, TAKT_TENANTS_MAX);
    cr_expect_str_eq(tenants[TAKT_TENANTS_MAX - 1].name, "tenant 255");
    claim_for(&gone, &limit, key, 7, 0);
    cr_assert_eq(rig_run(&rig, &gone), 0);
    claims[TAKT_TENANTS_MAX].claim.seq++;
    cr_assert_eq(rig_run(&rig, &claims[TAKT_TENANTS_MAX]), 0);
    cr_expect_neq(claims[TAKT_TENANTS_MAX].award.in_line, 0);
    rig_close(&rig);
    server_stop(&server);
}

/* Each error of the server has a code of its own and a message, and the store continues. */
Test(redis, errors_of_the_server)
{
    static const struct {
        const char *before, *after;
        int code;
        const char *says;
    } table[] = {
        {"CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", TAKT_E_STORE_SPACE, "memory is full"},
        {"RPUSH takt:{test/a/k} x", "DEL takt:{test/a/k}", TAKT_E_STORE_FORMAT, "another type"},
        {"CONFIG SET min-replicas-to-write 3", "CONFIG SET min-replicas-to-write 0", TAKT_E_STORE,
         "too few replicas"},
        {"REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", TAKT_E_STORE, "name the primary"},
    };
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;

    server_start(&server, NULL);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct rig rig;
        open_with(&rig, &server, "");
        cr_assert_eq(rig_try(&rig, &limit, "other", 1), 0);
        server_say(&server, "FLUSHALL");
        server_say(&server, table[i].before);
        cr_expect_eq(rig_try(&rig, &limit, "k", 1), table[i].code, "%s", table[i].before);
        cr_expect(troubled(&rig, table[i].says), "%s: %s", table[i].before, rig.store->trouble);
        server_say(&server, table[i].after);
        while (rig_try(&rig, &limit, "k", 1) != 0)
            continue;
        cr_expect_null(rig.store->trouble);
        rig_close(&rig);
    }
    server_stop(&server);
}

Test(redis, a_ledger_that_cannot_be_read)
{
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;
    struct rig rig;

    server_start(&server, NULL);
    server_say(&server, "SET takt:{test/a/k} nonsense");
    open_with(&rig, &server, "");
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), TAKT_E_NO_SLOT);
    cr_expect_eq(rig.damaged, 1);
    cr_expect_not_null(strstr(rig.text, "\"a\""));
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), TAKT_E_NO_SLOT);
    cr_expect_eq(rig.damaged, 1, "told once");
    rig_close(&rig);
    server_stop(&server);
}

/* A policy of a lower revision, without a timezone, meets ledgers with one. */
Test(redis, a_zone_that_only_the_ledger_names)
{
    enum { LEDGERS = 100 };
    static struct rig_call calls[LEDGERS];
    static char keys[LEDGERS][8];
    takt_limit old = rig_limit("a", 5, RIG_DAY, 5), new = old;
    struct server server;
    struct rig rig[2];

    new.numbers.revision = 3;
    new.numbers.rules[0] = (takt_rule){.algorithm = takt_algorithm_named("fixed-window"),
                                       .limit = 1,
                                       .period_us = RIG_DAY,
                                       .zone = takt_zone_named("America/Los_Angeles", 19)};
    cr_assert_eq(takt_rule_prepare(&new.numbers.rules[0], NULL), 0);
    server_start(&server, NULL);
    for (int i = 0; i < 2; i++)
        open_with(&rig[i], &server, "");
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < LEDGERS; i++) {
            snprintf(keys[i], sizeof keys[i], "%d", i);
            rig_call_init(&calls[i], TAKT_OP_TRY, again ? &old : &new, keys[i]);
            rig_submit(&rig[again], &calls[i]);
        }
        for (int i = 0; i < LEDGERS; i++) {
            rig_wait(&rig[again], &calls[i]);
            cr_assert_eq(calls[i].call.status, again ? TAKT_E_NO_SLOT : 0, "%s",
                         rig[again].store->trouble);
            cr_expect_eq(calls[i].call.standing.limit, 1, "by the newer numbers");
        }
    }
    server_say(&server, "SET takt:{test/a/x} \"f1/86400000000@Mars/Olympus 0,0;r9,250000,0\"");
    cr_expect(rig_try(&rig[1], &old, "x", 1) < 0);
    cr_expect_eq(rig_try(&rig[1], &old, "1", 1), TAKT_E_NO_SLOT, "the store goes on");
    rig_close(&rig[0]);
    rig_close(&rig[1]);
    server_stop(&server);
}

Test(redis, databases_and_namespaces_are_apart)
{
    static const char *const options[] = {"", "?db=1", "?db=2"};
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct server server;

    server_start(&server, NULL);
    for (int i = 0; i < 3; i++) {
        struct rig rig;
        open_with(&rig, &server, options[i]);
        cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
        cr_expect_eq(rig_try(&rig, &limit, "k", 1), TAKT_E_NO_SLOT);
        rig_close(&rig);
    }
    server_stop(&server);
}

/* Every key expires, and its name begins with takt: and the ledger's tag. */
Test(redis, what_lies_there_expires)
{
    takt_limit limit = rig_limit("a", 10, 1000000, 1);
    struct rig_call claim;
    struct server server;
    struct rig rig;
    const char *info;

    server_start(&server, NULL);
    open_with(&rig, &server, "");
    rig_call_init(&claim, TAKT_OP_CLAIM, &limit, "k");
    claim.claim = (takt_claim){.worker = 1, .seq = 1, .waiting = 100, .want_count = 1};
    claim.claim.wants[0] = (takt_want){100, TAKT_NEVER, 1, 5, {{0}}};
    cr_expect_eq(rig_run(&rig, &claim), 0);
    cr_expect_eq(rig_try(&rig, &limit, "other", 1), 0);
    info = server_say(&server, "INFO keyspace");
    cr_assert_not_null(strstr(info, "db0:keys="));
    cr_expect_eq(atoi(strstr(info, "keys=") + 5), atoi(strstr(info, "expires=") + 8), "%s", info);
    rig_close(&rig);
    server_stop(&server);
}

/* The server's clock goes on while a script with several claims runs: none of them may find a text
 * whose pages have expired. */
Test(redis, pages_outlive_the_text_that_refers_to_them)
{
    takt_limit limit = log_limit();
    long long text_ms, pages_ms;
    struct server server;
    struct rig rig;

    limit.numbers.rules[0].period_us = 60000000;
    cr_assert_eq(takt_rule_prepare(&limit.numbers.rules[0], NULL), 0);
    server_start(&server, NULL);
    open_with(&rig, &server, "");
    for (int i = 0; i < 3; i++)
        cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    pages_ms = atoll(server_say(&server, "PTTL takt:{test/log/k}:log") + 1);
    text_ms = atoll(server_say(&server, "PTTL takt:{test/log/k}") + 1);
    cr_expect_gt(text_ms, 0);
    cr_expect_gt(pages_ms, text_ms);
    rig_close(&rig);
    server_stop(&server);
}

Test(redis, closed_with_calls_under_way)
{
    enum { CALLS = 50 };
    static struct rig_call calls[CALLS];
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;

    server_start(&server, NULL);
    for (int turns = 0; turns < 20; turns++) {
        struct rig rig;
        open_with(&rig, &server, "");
        for (int i = 0; i < CALLS; i++) {
            rig_call_init(&calls[i], TAKT_OP_TRY, &limit, "k");
            rig_submit(&rig, &calls[i]);
            if (i < turns)
                uv_run(&rig.loop, UV_RUN_NOWAIT);
        }
        rig_close(&rig);
        for (int i = 0; i < CALLS; i++) {
            cr_expect_eq(calls[i].done, 1);
            cr_expect(calls[i].call.status == 0 || calls[i].call.status == TAKT_E_CANCELED);
        }
    }
    server_stop(&server);
}

Test(redis, does_not_keep_the_loop_alive)
{
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;
    struct rig rig;

    server_start(&server, NULL);
    open_with(&rig, &server, "");
    uv_run(&rig.loop, UV_RUN_DEFAULT);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    uv_run(&rig.loop, UV_RUN_DEFAULT);
    rig_close(&rig);
    server_stop(&server);
}

/* A child after fork must not talk over its parent's connection. */
static int try_in_child(void *argument)
{
    struct rig *rig = argument;
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);

    uv_loop_fork(&rig->loop);
    return rig_try(rig, &limit, "k", 1) == TAKT_E_STORE ? 0 : 1;
}

Test(redis, a_child_has_no_connection)
{
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;
    struct rig rig;

    server_start(&server, NULL);
    open_with(&rig, &server, "");
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    cr_expect_eq(rig_reap(rig_fork(try_in_child, &rig)), 0);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 998);
    rig_close(&rig);
    server_stop(&server);
}

Test(redis, urls_that_cannot_be_opened)
{
    static const struct {
        const char *url;
        int code;
        const char *says;
    } table[] = {
        {"redis://", TAKT_E_STORE_URL, "no host"},
        {"redis://u:" CANARY "@h:x", TAKT_E_STORE_URL, "port"},
        {"redis://ann@127.0.0.1", TAKT_E_STORE_ACCESS, "$TAKT_REDIS_PASSWORD"},
        {"redis://127.0.0.1?password_file=/nowhere/x", TAKT_E_STORE_ACCESS, "password_file"},
        {"rediss://127.0.0.1?ca=/nowhere/x", TAKT_E_STORE_ACCESS, "ca="},
        {"reddis://u:" CANARY "@h", TAKT_E_STORE_URL, "redis://"},
        {"REDIS://u:" CANARY "@h", TAKT_E_STORE_URL, "redis://"},
        {"redis:u:" CANARY "@h", TAKT_E_STORE_URL, "redis://"},
    };

    unsetenv("TAKT_REDIS_PASSWORD");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_error error = {0};
        struct rig rig;
        cr_expect_eq(rig_try_open(&rig, table[i].url, "test", 0, &error), table[i].code, "%s",
                     table[i].url);
        cr_expect_not_null(strstr(error.text, table[i].says), "%s", error.text);
        cr_expect_null(strstr(error.text, CANARY), "%s", error.text);
        rig_close(&rig);
    }
}
