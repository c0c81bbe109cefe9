/*
 * test_script.c: the commands of the scripts: an uncontended award reads the clock and reads and
 * writes one key, and any number of evenly spaced slots does the same; a permit that changes hands
 * needs no more than the quick way. That they decide as lib/core does is the matter of agree.c.
 */
#include <criterion/criterion.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/award.h"
#include "store/redis/server.h"
#include "store/rig.h"

static struct server server;
static struct rig rig;
static int64_t seq;
static bool uncontended; /* what the claims say */

static void start(void)
{
    takt_error error = {0};

    server_start(&server, NULL);
    cr_assert_eq(rig_try_open(&rig, server.url, "test", INT64_C(600000000), &error), 0, "%s",
                 error.text);
}

static void stop(void)
{
    rig_close(&rig);
    server_stop(&server);
}

TestSuite(redis_script, .init = start, .fini = stop);

static takt_limit limit_with(const char *algorithm, int64_t tokens, int64_t period_us,
                             int64_t burst)
{
    takt_limit limit = rig_limit("a", 1, 1000000, 1);

    limit.numbers.rules[0] = (takt_rule){.algorithm = takt_algorithm_named(algorithm),
                                         .limit = tokens,
                                         .period_us = period_us,
                                         .burst = burst};
    cr_assert_eq(takt_rule_prepare(&limit.numbers.rules[0], NULL), 0);
    return limit;
}

static void add_rule(takt_limit *limit, const char *algorithm, int64_t tokens, int64_t period_us)
{
    takt_limit other = limit_with(algorithm, tokens, period_us, 0);

    limit->numbers.rules[limit->numbers.rule_count++] = other.numbers.rules[0];
}

/* If a page of a log cannot be read, that ledger begins anew, and nothing is taken of any level. */
Test(redis_script, a_damaged_page_refuses_a_try_of_all_levels)
{
    takt_limit outer = limit_with("gcra", 100, RIG_DAY, 100),
               inner = limit_with("sliding-log", 3, RIG_DAY, 0);
    takt_store_inner within[] = {{&inner, &inner.numbers, "k", TAKT_UNIT_MAP_PLAIN}};
    struct rig_call call;

    strcpy(inner.name, "b");
    for (int i = 0; i < 4; i++) {
        rig_call_init(&call, TAKT_OP_TRY, &outer, "k");
        call.call.claim = NULL;
        call.call.inner = within;
        call.call.inner_count = 1;
        call.call.cost = 1;
        if (i == 3)
            server_say(&server, "HSET takt:{test/b/k}:log 1:0 x");
        cr_assert_eq(rig_run(&rig, &call), i < 3 ? 0 : TAKT_E_NO_SLOT, "%d", i);
    }
    cr_expect_eq(call.call.ledger_no, 1);
    cr_expect_gt(call.call.standing.retry_after_us, RIG_DAY / 2);
    cr_expect_gt(call.call.standing.blocked_until_us, call.call.standing.now_us + RIG_DAY / 2);
    cr_expect_eq(rig.damaged, 1);
    cr_expect_eq(rig_peek(&rig, &outer, "k").remaining, 97);
    cr_expect_eq(rig_peek(&rig, &inner, "k").remaining, 0);
}

static void forget_all(void)
{
    server_say(&server, "FLUSHDB");
    server_say(&server, "CONFIG RESETSTAT");
}

/* A claim for `count` waiters: how many were given a slot. */
static int64_t claim(const takt_limit *limit, int64_t count)
{
    static struct rig_call call;
    int64_t given;

    rig_call_init(&call, TAKT_OP_CLAIM, limit, "k");
    call.claim = (takt_claim){
        .worker = 1, .seq = ++seq, .waiting = count, .uncontended = uncontended, .want_count = 1};
    call.claim.wants[0] = (takt_want){count, TAKT_NEVER, 1, 5, {{0}}};
    cr_assert_eq(rig_run(&rig, &call), 0);
    given = takt_award_given(&call.award);
    cr_assert_eq(call.award.in_line, 0, "%" PRId64 " of %" PRId64, given, count);
    return given;
}

/* How often the server ran a command, by itself or in a script, since the statistics were reset. */
static int64_t calls_of(const char *statistics, const char *command)
{
    char name[64];
    const char *at;
    long long calls = 0;

    snprintf(name, sizeof name, "cmdstat_%s:calls=", command);
    at = strstr(statistics, name);
    if (at)
        sscanf(at + strlen(name), "%lld", &calls);
    return calls;
}

/* Nothing else but these ran. */
static void check_commands(int64_t claims, const char *what)
{
    static const char *const expected[] = {"evalsha", "time", "get", "set"};
    static const char *const ours[] = {"config|resetstat", "quit"}; /* of this test */
    const char *statistics = server_say(&server, "INFO commandstats");
    int64_t known = 0;
    int lines = 0;

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        cr_expect_eq(calls_of(statistics, expected[i]), claims, "%s: %s in %s", what, expected[i],
                     statistics);
        known++;
    }
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        known += calls_of(statistics, ours[i]) > 0;
    for (const char *at = statistics; (at = strstr(at, "cmdstat_")) != NULL; at++)
        lines++;
    cr_expect_eq(lines, known, "%s: %s", what, statistics);
}

/* The first award of a ledger and those that follow. */
static void check_awards(const takt_limit *limit, int64_t count, const char *what)
{
    static const int claims[] = {1, 10};

    forget_all();
    claim(limit, count); /* loads the script */
    for (int i = 0; i < 2; i++) {
        forget_all();
        for (int j = 0; j < claims[i]; j++)
            cr_assert_eq(claim(limit, count), count, "%s", what);
        check_commands(claims[i], what);
    }
}

Test(redis_script, an_uncontended_award_is_time_get_set)
{
    takt_limit limit = limit_with("gcra", 1000, 1000000, 1000);

    limit.numbers.lookahead_us = 10000000;
    check_awards(&limit, 1, "one slot");
    uncontended = true;
    check_awards(&limit, 1, "one slot, asked for with one key");
    uncontended = false;
    check_awards(&limit, 100, "several slots");
    check_awards(&limit, 600, "now and later");
    limit.numbers.revision = 1; /* no longer the quick way */
    check_awards(&limit, 100, "a revision");
    add_rule(&limit, "gcra", 60000, 60000000);
    check_awards(&limit, 1, "two rules");
    limit = limit_with("fixed-window", 1000, RIG_DAY, 0);
    check_awards(&limit, 10, "fixed window");
    limit = limit_with("sliding-window", 1000, RIG_DAY, 0);
    check_awards(&limit, 10, "sliding window");
}

/* One that went slot by slot would not come back in this test's time. */
Test(redis_script, an_even_award_takes_no_longer_for_more_slots)
{
    enum { MANY = 1000000000 };
    takt_limit limit = limit_with("gcra", MANY, 1000000, 1);

    limit.numbers.lookahead_us = 10000000;
    for (int quick = 1; quick >= 0; quick--) {
        limit.numbers.revision = !quick;
        check_awards(&limit, MANY / 2, "evenly spaced");
    }
    limit = limit_with("gcra", MANY, 1000000, MANY);
    forget_all();
    cr_expect_eq(claim(&limit, MANY), MANY);
    limit = limit_with("fixed-window", MANY, RIG_DAY, 0);
    forget_all();
    cr_expect_eq(claim(&limit, MANY), MANY);
}

/* The quick ways leave a text in any other form to the full scripts. */
Test(redis_script, no_quick_way_for_what_cannot_be_read)
{
    static struct rig_call call;
    takt_limit limit = limit_with("gcra", 1000, RIG_DAY, 1000); /* not at rest before APPEND */

    limit.numbers.rules[1] = limit_with("gcra", 10000, RIG_DAY, 1000).numbers.rules[0];
    for (int rules = 1; rules <= 2; rules++) {
        limit.numbers.rule_count = rules;
        forget_all();
        cr_assert_eq(claim(&limit, 1), 1);
        server_say(&server, "APPEND takt:{test/a/k} ;");
        rig_call_init(&call, TAKT_OP_CLAIM, &limit, "k");
        call.claim = (takt_claim){.worker = 1, .seq = ++seq, .waiting = 1, .want_count = 1};
        call.claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, 5, {{0}}};
        cr_assert_eq(rig_run(&rig, &call), 0);
        cr_expect_eq(rig.damaged, rules, "with %d", rules);
    }
}

/* ---- permits --------------------------------------------------------------------------------- */

/* A worker holds nothing (any more) and wants a permit: was it given one? */
static bool claim_permit(const takt_limit *limit, uint64_t worker)
{
    static struct rig_call call;

    rig_call_init(&call, TAKT_OP_CLAIM, limit, "k");
    call.claim = (takt_claim){.worker = worker, .seq = ++seq, .waiting = 1, .want_count = 1};
    call.claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, 5, {{0}}};
    cr_assert_eq(rig_run(&rig, &call), 0);
    return call.award.run_count > 0;
}

/* All commands that ran. */
static int64_t all_calls(const char *statistics)
{
    int64_t sum = 0;

    for (const char *at = statistics; (at = strstr(at, "cmdstat_")) != NULL; at++) {
        long long calls = 0;
        sscanf(at, "cmdstat_%*[^:]:calls=%lld", &calls);
        sum += calls;
    }
    return sum;
}

/* Each worker in turn releases and claims again, and the next one takes the permit. */
Test(redis_script, a_hand_over_takes_the_quick_way)
{
    enum { WORKERS = 5, HAND_OVERS = 20, CLAIMS = 2 * HAND_OVERS };
    takt_limit limit = {.name = "a",
                        .numbers.lookahead_us = 10000000,
                        .numbers.concurrency = 2,
                        .numbers.lease_us = 600000000};
    redisContext *listener = redisConnectUnix(server.socket);
    const char *statistics;

    cr_assert(listener && !listener->err);
    for (int i = 0; i < WORKERS; i++) { /* a worker that does not listen is skipped */
        redisReply *reply = redisCommand(listener, "SSUBSCRIBE takt:{test/a/k}:%d", 1 + i);
        cr_assert(reply && reply->type != REDIS_REPLY_ERROR);
        freeReplyObject(reply);
    }
    for (uint64_t i = 0; i < WORKERS; i++)
        cr_assert_eq(claim_permit(&limit, 1 + i), i < 2);
    server_say(&server, "CONFIG RESETSTAT");
    for (uint64_t i = 0; i < HAND_OVERS; i++) {
        cr_assert_not(claim_permit(&limit, 1 + i % WORKERS), "it stands behind the others");
        cr_assert(claim_permit(&limit, 1 + (i + 2) % WORKERS), "hand-over %d", (int)i);
    }
    statistics = server_say(&server, "INFO commandstats");
    cr_expect_eq(calls_of(statistics, "evalsha"), CLAIMS);
    cr_expect_eq(calls_of(statistics, "spublish"), HAND_OVERS, "%s", statistics);
    cr_expect_eq(calls_of(statistics, "zrangebyscore"), 0, "not as lua/line.lua does it");
    cr_expect_leq(all_calls(statistics), 12 * CLAIMS + 2, "%s", statistics);
    redisFree(listener);
}
