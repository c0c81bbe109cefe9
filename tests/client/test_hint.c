/*
 * Two clients over a real server, a file, or the memory of a process: a change that one makes to a
 * ledger reaches the other one at once, and the other holds back the slots that it has in hand.
 * Without hints the changes only arrive later.
 */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <takt/takt.h>
#include <uv.h>

#include "client/client.h"
#include "scheduler/registry.h"
#include "store/redis/server.h"
#include "store/rig.h"

#define JOBS 8

typedef struct side {
    takt_client *client;
    takt_permit permits[40];
    int starts;
    int64_t slots_us[40];
} side;

static uv_loop_t loop;
static takt_policy *policy;
static struct server server;
static const char *place; /* the store's URL; NULL: the server's */
static side worker, other;

static void open_side(side *opened, const char *options_text)
{
    char url[256];
    takt_options options = {.store = url, .store_timeout_us = 60000000};
    takt_error error;

    snprintf(url, sizeof url, "%s%s", place ? place : server.url, options_text);
    cr_assert_eq(takt_open(&opened->client, &loop, policy, &options, &error), 0, "%s", error.text);
}

static void open_both(const char *rate, const char *lookahead, const char *options)
{
    takt_rule_text rule = {.rate = rate};
    takt_limit_text limit = {.name = "mail", .rules = &rule, .rule_count = 1};

    limit.lookahead = lookahead;
    if (!place)
        server_start(&server, NULL);
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &limit, NULL), 0);
    open_side(&worker, options);
    open_side(&other, options);
}

static void close_both(void)
{
    takt_close(worker.client, NULL, NULL);
    takt_close(other.client, NULL, NULL);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0);
    takt_policy_free(policy);
    if (!place)
        server_stop(&server);
}

static void starts(takt_permit *permit, int status)
{
    side *of = permit->data;

    if (status == TAKT_E_CANCELED)
        return; /* the client closes */
    cr_assert_eq(status, 0);
    of->slots_us[of->starts++] = permit->slot_at_us;
}

static void acquire(side *of, int count)
{
    takt_request request = TAKT_REQUEST("mail");

    for (int i = 0; i < count; i++) {
        of->permits[i].data = of;
        cr_assert_eq(takt_acquire(of->client, &of->permits[i], &request, starts), 0);
    }
}

static bool answered;
static takt_standing stands;

static void note_call(takt_call *call, int status, const takt_standing *standing)
{
    (void)call;
    cr_assert_eq(status, 0, "%s", takt_strerror(status));
    answered = true;
    stands = *standing;
}

static void await_call(int code)
{
    cr_assert_eq(code, 0);
    for (answered = false; !answered;)
        uv_run(&loop, UV_RUN_ONCE);
}

static takt_queue *queue_of(side *of)
{
    return takt_registry_find(&of->client->scheduler, takt_policy_find(policy, "mail"), "");
}

/* Slots are in hand, and a server knows that the worker listens for news of the ledger. */
static void await_hand(int64_t slots)
{
    while (!queue_of(&worker) || queue_of(&worker)->in_hand.count < slots ||
           (!place && !strstr(server_say(&server, "PUBSUB SHARDCHANNELS"), "mail") &&
            !strstr(server_say(&server, "PUBSUB CHANNELS"), "mail")))
        uv_run(&loop, UV_RUN_ONCE);
}

/* One token in 4 s and a lookahead of 10 s: two slots are in hand, seconds ahead. A delayed machine
 * may use one of them first, and a hint may be lost: then the test blocks again. */
static void hear_of_a_block(void)
{
    takt_call call = {0};
    int before = 0, told_at = -1;

    open_both("1/4s", "10s", "");
    acquire(&worker, JOBS);
    while (worker.starts < 1)
        uv_run(&loop, UV_RUN_ONCE);
    await_hand(1);
    while (queue_of(&worker)->in_hand.count > 0) {
        if (told_at != worker.starts)
            await_call(takt_block(other.client, &call, "mail", NULL, INT64_C(3600000000), NULL,
                                  note_call));
        told_at = worker.starts;
        uv_run(&loop, UV_RUN_ONCE);
    }
    before = worker.starts;
    cr_assert_lt(before, JOBS, "they were dropped, not used");
    cr_assert_eq(queue_of(&worker)->waiters.total, JOBS - before);

    await_call(takt_reset(other.client, &call, "mail", NULL, note_call));
    await_call(takt_unblock(other.client, &call, "mail", NULL, note_call));
    while (worker.starts == before)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_geq(worker.slots_us[before], stands.now_us, "and the end of the block, too");
    close_both();
}

Test(hint, a_block_is_heard_of_at_once)
{
    hear_of_a_block();
}

Test(hint, over_a_file_as_well)
{
    char directory[PATH_MAX], url[PATH_MAX + 32];

    rig_directory(directory);
    snprintf(url, sizeof url, "file:%s/ledgers.mdb", directory);
    place = url;
    hear_of_a_block();
    rig_remove(directory);
}

Test(hint, and_within_a_process)
{
    place = "memory:hint";
    hear_of_a_block();
}

/* Its work waits on for a limit that the new policy has no more. */
Test(hint, a_limit_that_is_gone_is_heard_of)
{
    takt_rule_text rule = {.rate = "1/s"};
    takt_limit_text limit = {.name = "calls", .rules = &rule, .rule_count = 1};
    takt_call call = {0};
    takt_policy *next;

    open_both("1/4s", "10s", "");
    await_call(takt_block(other.client, &call, "mail", NULL, INT64_C(3600000000), NULL, note_call));
    acquire(&worker, 1);
    await_hand(0);
    while (queue_of(&worker)->awarded.blocked_until_us == 0 || queue_of(&worker)->claims.in_flight)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(takt_policy_new(&next, NULL), 0);
    cr_assert_eq(takt_policy_add(next, &limit, NULL), 0);
    cr_assert_eq(takt_reload(worker.client, next, NULL), 0);
    await_call(takt_unblock(other.client, &call, "mail", NULL, note_call));
    while (!queue_of(&worker)->claims.in_flight && worker.starts == 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(queue_of(&worker)->claims.hint, HINT_CLAIMED, "not only a keepalive later");
    while (worker.starts == 0)
        uv_run(&loop, UV_RUN_ONCE);
    close_both();
    takt_policy_free(next);
}

/* The report of a vendor's 429 is as good as a block. */
Test(hint, a_penalty_is_heard_of_at_once)
{
    takt_call call = {0};

    place = "memory:penalty";
    open_both("1/4s", "10s", "");
    acquire(&worker, JOBS);
    await_hand(1);
    await_call(
        takt_penalize(other.client, &call, "mail", NULL, INT64_C(3600000000), "429", note_call));
    cr_assert_str_eq(stands.reason, "429");
    while (queue_of(&worker)->in_hand.count > 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_lt(worker.starts, JOBS, "they were dropped, not used");
    cr_assert_eq(queue_of(&worker)->waiters.total, JOBS - worker.starts);
    for (int i = 0; i < JOBS; i++)
        takt_release(&worker.permits[i]);
    close_both();
}

/* A ledger that is blocked for a short time: no slot is before the block's end, by the store's
 * clock, except those that were in hand before the hint. */
static void block_in_mid_run(const char *options, int64_t in_hand_us)
{
    takt_call call = {0};
    int before;

    open_both("50/s", "200ms", options);
    acquire(&worker, 40);
    while (worker.starts < 5)
        uv_run(&loop, UV_RUN_ONCE);
    if (in_hand_us == 0)
        await_hand(1);
    await_call(takt_block(other.client, &call, "mail", NULL, 2000000, NULL, note_call));
    if (in_hand_us == 0)
        while (queue_of(&worker)->awarded.blocked_until_us == 0)
            uv_run(&loop, UV_RUN_ONCE);
    before = worker.starts;
    while (worker.starts < 40)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = before; i < 40; i++)
        cr_expect(worker.slots_us[i] >= stands.blocked_until_us ||
                      worker.slots_us[i] <= stands.now_us + in_hand_us,
                  "slot %d lies %lld us before the end", i,
                  (long long)(stands.blocked_until_us - worker.slots_us[i]));
    for (int i = 1; i < 40; i++)
        cr_expect_geq(worker.slots_us[i] - worker.slots_us[i - 1], 20000 - 1);
    close_both();
}

Test(hint, no_slot_before_the_end_of_a_block)
{
    block_in_mid_run("", 0);
}

Test(hint, without_hints_no_more_than_the_slots_in_hand)
{
    block_in_mid_run("?hints=off", 200000);
}
