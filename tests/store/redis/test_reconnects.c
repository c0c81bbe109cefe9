/*
 * test_reconnects.c: clients that lose their connections again and again: all are served, events
 * report the losses, and no memory grows.
 */
#include <criterion/criterion.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <takt/takt.h>
#include <unistd.h>
#include <uv.h>

#include "store/redis/server.h"

#define CLIENTS      50
#define ROUNDS       23
#define SETTLED      3                              /* rounds after which reusable memory exists */
#define RECONNECTS   (CLIENTS * (ROUNDS - SETTLED)) /* between the two looks */
#define GROWTH       64                             /* bytes of each that must not grow */
#define SERVED       2     /* grants after a loss: the first may be of a slot from before */
#define SCRIPTS_KEPT 81920 /* of memory: for commands, and for what else may have grown */
#define FULL         100 /* after which a connection's reader, which grows at first, has its size */

struct one {
    takt_client *client;
    takt_permit permit;
    int lost, back;
    int64_t grants, wanted;
};

static struct one ones[CLIENTS];
static uv_loop_t loop;
static takt_policy *policy;
static struct server server;

static void on_event(takt_client *client, const takt_event *event, void *data)
{
    struct one *one = data;

    (void)client;
    one->lost += event->type == TAKT_EVENT_STORE_LOST;
    one->back += event->type == TAKT_EVENT_STORE_BACK;
}

static void script_call(struct one *one);

static void on_granted(takt_permit *permit, int status)
{
    struct one *one = permit->data;

    if (status == TAKT_E_CANCELED)
        return;
    cr_assert_eq(status, 0);
    one->grants++;
    takt_release(permit);
    script_call(one);
}

static void script_call(struct one *one)
{
    takt_request request = TAKT_REQUEST("l");

    one->permit.data = one;
    cr_assert_eq(takt_acquire(one->client, &one->permit, &request, on_granted), 0);
}

static void open_ones(int count, const char *rate)
{
    takt_rule_text rule = {.rate = rate, .burst = "1"};
    takt_limit_text limit = {.name = "l", .rules = &rule, .rule_count = 1, .lookahead = "50ms"};
    takt_options options = {
        .store = server.url, .store_timeout_us = 60000000, .on_event = on_event};
    takt_error error;

    uv_loop_init(&loop);
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &limit, NULL), 0);
    for (int i = 0; i < count; i++) {
        options.data = &ones[i];
        cr_assert_eq(takt_open(&ones[i].client, &loop, policy, &options, &error), 0, "%s",
                     error.text);
        script_call(&ones[i]);
    }
}

static void close_ones(int count)
{
    for (int i = 0; i < count; i++)
        takt_close(ones[i].client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(uv_loop_close(&loop), 0);
    takt_policy_free(policy);
}

/* How many listen to the limit, by a connection beside their first; the channel that is tried
 * before it is the other of two. */
static int listening(void)
{
    int count = 0;

    for (const char *at = server_say(&server, "CLIENT LIST TYPE pubsub");
         (at = strstr(at, "sub=2 ")) != NULL; at++)
        count++;
    return count;
}

/* Runs the loop until each client has had so many events of a loss, has both connections again and
 * was then served so often. */
static void await_all(int losses, int served)
{
    for (int i = 0; i < CLIENTS; i++)
        while (ones[i].lost < losses || ones[i].lost > ones[i].back)
            uv_run(&loop, UV_RUN_ONCE);
    while (listening() < CLIENTS)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < CLIENTS; i++)
        ones[i].wanted = ones[i].grants + served;
    for (int i = 0; i < CLIENTS; i++)
        while (ones[i].grants < ones[i].wanted)
            uv_run(&loop, UV_RUN_ONCE);
}

static int64_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();

    return (int64_t)(info.uordblks + info.hblkhd);
}

/* Without the pages of files, which come when a library's code first runs and go when memory is
 * short. */
static int64_t resident(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long size = 0, pages = 0, of_files = 0;

    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "%ld %ld %ld", &size, &pages, &of_files), 3);
    fclose(file);
    return (pages - of_files) * sysconf(_SC_PAGESIZE);
}

/* There where AddressSanitizer is, whichever compiler it came with. */
extern void __asan_init(void) __attribute__((weak));

/* A sanitizer's allocator has no figures; its report has leaks. */
static void check_growth(int64_t allocated_before, int64_t resident_before)
{
    if (__asan_init)
        return;
    cr_expect_leq(allocated() - allocated_before, GROWTH * RECONNECTS);
    cr_expect_leq(resident() - resident_before, 2 * GROWTH * RECONNECTS + 256 * 1024);
}

TestSuite(reconnects, .timeout = 280);

Test(reconnects, a_thousand_of_them_leave_nothing_behind)
{
    int64_t allocated_before = 0, resident_before = 0;

    mallopt(M_PERTURB, 0x55); /* memory is resident once allocated, not when it is first used */
    server_start(&server, NULL);
    open_ones(CLIENTS, "5000/s");
    await_all(0, SERVED);
    for (int round = 1; round <= ROUNDS; round++) {
        bool look = round == SETTLED || round == ROUNDS;
        server_say(&server, "CLIENT KILL TYPE normal\r\nCLIENT KILL TYPE pubsub");
        await_all(round, look ? FULL : SERVED);
        if (round == SETTLED) {
            allocated_before = allocated();
            resident_before = resident();
        }
    }
    check_growth(allocated_before, resident_before);
    close_ones(CLIENTS);
    server_stop(&server);
}

/* Runs the loop until the only client was served so often. */
static void await_one(int served)
{
    for (ones[0].wanted = ones[0].grants + served; ones[0].grants < ones[0].wanted;)
        uv_run(&loop, UV_RUN_ONCE);
}

static int answers;

static void note_answer(takt_call *call, int status, const takt_standing *standing)
{
    (void)call, (void)standing;
    cr_expect_eq(status, 0);
    answers++;
}

/* Uses several scripts at once. */
static void use_scripts(void)
{
    takt_call calls[3] = {0};

    cr_assert_eq(takt_peek(ones[0].client, &calls[0], "l", NULL, note_answer), 0);
    cr_assert_eq(takt_unblock(ones[0].client, &calls[1], "l", NULL, note_answer), 0);
    cr_assert_eq(takt_reset(ones[0].client, &calls[2], "l", NULL, note_answer), 0);
    for (answers = 0; answers < 3;)
        uv_run(&loop, UV_RUN_ONCE);
    await_one(FULL);
}

/* A server that has lost the scripts gets them once more, of which a connection keeps no more than
 * the memory for its commands. */
Test(reconnects, what_the_scripts_took_is_not_kept)
{
    int64_t allocated_before, kept;

    server_start(&server, NULL);
    open_ones(1, "5000/s");
    await_one(1);
    close_ones(1);
    open_ones(1, "5000/s"); /* finds them there */
    use_scripts();
    allocated_before = allocated();
    server_say(&server, "SCRIPT FLUSH");
    use_scripts();
    kept = allocated() - allocated_before;
    if (!__asan_init)
        cr_expect_leq(kept, SCRIPTS_KEPT, "%d", (int)kept);
    close_ones(1);
    server_stop(&server);
}

/* Waiters get the error when the server goes away, not with their next claim. */
Test(reconnects, a_loss_is_told_though_no_call_is_under_way)
{
    takt_stats before, after;

    server_start(&server, NULL);
    open_ones(1, "1/h");
    while (ones[0].grants == 0)
        uv_run(&loop, UV_RUN_ONCE);
    do { /* the claim of the next waiter */
        uv_run(&loop, UV_RUN_NOWAIT);
        takt_get_stats(ones[0].client, &before);
    } while (before.store_calls < 2);
    server_say(&server, "PING"); /* answers behind the claim */
    uv_run(&loop, UV_RUN_NOWAIT);
    server_kill(&server, SIGKILL);
    while (ones[0].lost == 0)
        uv_run(&loop, UV_RUN_ONCE);
    takt_get_stats(ones[0].client, &after);
    cr_expect_eq(after.store_calls, before.store_calls);
    close_ones(1);
    server_stop(&server);
}
