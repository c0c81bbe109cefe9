/*
 * Wake-ups between clients of one host: which client receives which, that nothing depends on them,
 * and that malformed messages do no harm.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "store/waker.h"

#define MANY 5000 /* more than a socket holds */

/* A client: its worker, and its last message. */
typedef struct ear {
    takt_waker waker;
    uint64_t worker;
    int wakes, hints;
    char limit[TAKT_NAME_SIZE_MAX + 1], key[TAKT_KEY_SIZE_MAX + 1];
    bool closed;
} ear;

static uv_loop_t loop;
static uv_async_t alive; /* what a client that waits has: a reason for the loop to run */
static ear one, two;
static takt_limit limit;
static char blocked_key[32]; /* ours alone: of others that are blocked all on this host hear, too */

static void on_wake(void *data, const char *name, const char *key)
{
    ear *self = data;

    self->wakes++;
    snprintf(self->limit, sizeof self->limit, "%s", name);
    snprintf(self->key, sizeof self->key, "%s", key);
}

static void on_hint(void *data, const char *name, const char *key)
{
    ear *self = data;

    if (strcmp(key, blocked_key) != 0)
        return;
    on_wake(data, name, key);
    self->wakes--;
    self->hints++;
}

static void open_ear(ear *self, int number, bool wants)
{
    takt_store_options options = {
        .on_wake = wants ? on_wake : NULL, .on_hint = wants ? on_hint : NULL, .data = self};

    *self = (ear){.worker = (uint64_t)getpid() << 20 | (uint64_t)number};
    takt_waker_init(&self->waker, &loop, &options);
}

static void on_closed(void *data)
{
    ((ear *)data)->closed = true;
}

static void close_ear(ear *self)
{
    bool listens = self->waker.socket >= 0;

    takt_waker_close(&self->waker, on_closed, self);
    cr_assert_eq(self->closed, !listens, "at once only where nothing is open");
    while (!self->closed)
        uv_run(&loop, UV_RUN_NOWAIT);
}

static void set_up(void)
{
    uv_loop_init(&loop);
    uv_async_init(&loop, &alive, NULL);
    limit = (takt_limit){.name = "mail", .numbers.concurrency = 3};
    snprintf(blocked_key, sizeof blocked_key, "account:%d", (int)getpid());
    open_ear(&one, 1, true);
    open_ear(&two, 2, true);
}

static void tear_down(void)
{
    close_ear(&one);
    close_ear(&two);
    uv_close((uv_handle_t *)&alive, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
}

TestSuite(waker, .init = set_up, .fini = tear_down);

/* A call of that client was answered, and wakes a worker (NULL: none). */
static void answered(ear *self, const ear *woken, const char *key, int status)
{
    static takt_award award;
    takt_claim claim = {.worker = self->worker};
    takt_store_call call = {.limit = &limit,
                            .numbers = &limit.numbers,
                            .key = key,
                            .claim = &claim,
                            .award = &award,
                            .status = status};

    award.wake_count = woken != NULL;
    award.wakes[0] = woken ? woken->worker : 0;
    takt_waker_answered(&self->waker, &call);
}

/* Until so many have come. */
static void hear(const ear *self, int wakes)
{
    while (self->wakes < wakes)
        uv_run(&loop, UV_RUN_NOWAIT);
    uv_run(&loop, UV_RUN_NOWAIT);
    cr_assert_eq(self->wakes, wakes);
}

Test(waker, the_one_who_is_named_hears_it)
{
    static char long_key[TAKT_KEY_SIZE_MAX + 1];
    static const struct {
        const char *name, *key;
    } rows[] = {{"mail", "account:42"},
                {"mail", ""},
                {"a", "k"},
                {"0123456789012345678901234567890123456789012345678901234567890123", long_key}};

    memset(long_key, 'k', TAKT_KEY_SIZE_MAX);
    answered(&one, NULL, "", 0);
    answered(&two, NULL, "", 0);
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        strcpy(limit.name, rows[i].name);
        answered(&two, &one, rows[i].key, i % 2 ? TAKT_E_NO_SLOT : 0);
        hear(&one, i + 1);
        cr_assert_str_eq(one.limit, rows[i].name, "row %d", i);
        cr_assert_str_eq(one.key, rows[i].key, "row %d", i);
    }
    cr_assert_eq(two.wakes, 0);
}

Test(waker, several_are_woken_by_one_answer)
{
    static takt_award award = {.wake_count = 3};
    takt_claim claim = {.worker = two.worker};
    takt_store_call call = {
        .limit = &limit, .numbers = &limit.numbers, .key = "", .claim = &claim, .award = &award};

    answered(&one, NULL, "", 0);
    award.wakes[0] = two.worker + 1000; /* no worker */
    award.wakes[1] = one.worker;
    award.wakes[2] = two.worker;
    takt_waker_answered(&two.waker, &call);
    hear(&one, 1);
    hear(&two, 1);
}

Test(waker, listens_from_the_first_claim_that_was_answered)
{
    static const struct {
        int64_t concurrency;
        int status;
        bool listens;
    } rows[] = {{1, 0, true},
                {1, TAKT_E_NO_SLOT, true},
                {0, 0, true},
                {1, TAKT_E_STORE_TIMEOUT, false},
                {1, TAKT_E_CANCELED, false}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_store_call look = {.op = TAKT_OP_PEEK,
                                .limit = &limit,
                                .numbers = &limit.numbers,
                                .key = "",
                                .status = rows[i].status};
        limit.numbers.concurrency = rows[i].concurrency;
        takt_waker_answered(&one.waker, &look);
        cr_assert_eq(one.waker.socket, -1, "row %zu: nothing was claimed", i);
        answered(&one, NULL, "", rows[i].status);
        cr_assert_eq(one.waker.socket >= 0, rows[i].listens, "row %zu", i);
        close_ear(&one);
        open_ear(&one, 1, true);
    }
}

Test(waker, who_does_not_want_any_has_no_socket)
{
    ear deaf;

    open_ear(&deaf, 3, false);
    answered(&one, NULL, "", 0);
    answered(&deaf, &one, "", 0);
    cr_assert_eq(deaf.waker.socket, -1);
    uv_run(&loop, UV_RUN_NOWAIT);
    cr_assert_eq(one.wakes, 0);
    close_ear(&deaf);
}

/* Somebody else has the name, by chance or by intent: the keepalive does without. */
Test(waker, a_name_that_is_taken_is_done_without)
{
    ear twin;

    open_ear(&twin, 1, true);
    answered(&one, NULL, "", 0);
    answered(&twin, NULL, "", 0);
    cr_assert_eq(twin.waker.socket, -1);
    answered(&two, &one, "", 0);
    hear(&one, 1);
    close_ear(&twin);
}

/* A client that does not read delays no other client, and later reads as many messages as there was
 * space for. */
Test(waker, who_does_not_read_holds_nobody_up)
{
    answered(&one, NULL, "", 0);
    for (int i = 0; i < MANY; i++)
        answered(&two, &one, "key", 0);
    do
        uv_run(&loop, UV_RUN_NOWAIT);
    while (one.wakes == 0);
    for (int before = -1; before < one.wakes;) {
        before = one.wakes;
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    cr_assert_lt(one.wakes, MANY);
    int heard = one.wakes;
    answered(&two, &one, "key", 0);
    hear(&one, heard + 1);
}

static void send_bytes(const ear *to, const void *bytes, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int from = socket(AF_UNIX, SOCK_DGRAM, 0);
    int used =
        snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "takt/%" PRIx64, to->worker);

    cr_assert_eq(sendto(from, bytes, size, 0, (struct sockaddr *)&address,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)used)),
                 (ssize_t)size);
    close(from);
}

Test(waker, other_messages_do_no_harm)
{
    static char large[10000];

    memset(large, 'x', sizeof large);
    answered(&one, NULL, "", 0);
    send_bytes(&one, "", 0);
    send_bytes(&one, "w", 1);
    send_bytes(&one, "wmail", 5);
    send_bytes(&one, "mail\0key", 8);
    send_bytes(&one, large, sizeof large);
    large[0] = 'w'; /* a limit of a byte more than any has */
    large[1 + TAKT_NAME_SIZE_MAX + 1] = '\0';
    send_bytes(&one, large, 1 + TAKT_NAME_SIZE_MAX + 1 + 4);
    large[1 + TAKT_NAME_SIZE_MAX + 1] = 'x';
    answered(&two, &one, "key", 0);
    hear(&one, 1);
    cr_assert_str_eq(one.key, "key");
    send_bytes(&one, "w\0\0\0", 4);
    hear(&one, 2);
    cr_assert_str_eq(one.limit, "");
    cr_assert_str_eq(one.key, "");
    large[0] = 'w';
    large[6] = '\0'; /* a name and a key that none can be: others take it for one of the longest */
    send_bytes(&one, large, sizeof large);
    send_bytes(&one, large, 7 + TAKT_KEY_SIZE_MAX + 1);
    send_bytes(&one, large, 7 + TAKT_KEY_SIZE_MAX);
    hear(&one, 3);
    cr_assert_str_eq(one.limit, "xxxxx");
    cr_assert_eq(strlen(one.key), TAKT_KEY_SIZE_MAX);
    cr_assert_eq(one.hints, 0);
}

/* A call of that client that concerns everybody was answered. */
static void told(ear *self, takt_op op, const char *key, int status)
{
    takt_store_call call = {
        .op = op, .limit = &limit, .numbers = &limit.numbers, .key = key, .status = status};

    takt_waker_answered(&self->waker, &call);
}

Test(waker, all_who_listen_hear_of_a_block_and_its_like)
{
    static const takt_op ops[] = {TAKT_OP_BLOCK, TAKT_OP_PENALIZE, TAKT_OP_UNBLOCK, TAKT_OP_RESET};
    ear three;

    limit.numbers.concurrency = 0;
    open_ear(&three, 3, true);
    answered(&one, NULL, "", 0);
    answered(&two, NULL, "", 0);
    for (int i = 0; i < (int)(sizeof ops / sizeof *ops); i++) {
        told(i % 2 ? &one : &three, ops[i], blocked_key, 0); /* three has never claimed */
        while (two.hints <= i)
            uv_run(&loop, UV_RUN_NOWAIT);
        cr_assert_str_eq(two.limit, "mail");
        cr_assert_str_eq(two.key, blocked_key);
    }
    while (one.hints < 2)
        uv_run(&loop, UV_RUN_NOWAIT);
    told(&three, TAKT_OP_PEEK, blocked_key, 0);
    told(&three, TAKT_OP_SETTLE, blocked_key, 0);
    told(&three, TAKT_OP_BLOCK, blocked_key, TAKT_E_STORE_TIMEOUT);
    uv_run(&loop, UV_RUN_NOWAIT);
    cr_assert_eq(one.hints, 2, "not of what it did itself");
    cr_assert_eq(two.hints, 4);
    cr_assert_eq(one.wakes + two.wakes, 0);
    cr_assert_eq(three.waker.socket, -1);
    close_ear(&three);
}

/* A claim that leaves others more than announced wakes them, too. */
Test(waker, all_who_listen_hear_of_a_claim_that_is_news)
{
    static takt_claim claim;
    static takt_award award;
    takt_store_call call = {.op = TAKT_OP_CLAIM,
                            .limit = &limit,
                            .numbers = &limit.numbers,
                            .key = blocked_key,
                            .claim = &claim,
                            .award = &award};

    answered(&one, NULL, "", 0);
    answered(&two, NULL, "", 0);
    claim.worker = one.worker;
    takt_waker_answered(&one.waker, &call);
    award.news = true;
    takt_waker_answered(&one.waker, &call);
    while (two.hints == 0)
        uv_run(&loop, UV_RUN_NOWAIT);
    uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect_eq(two.hints, 1);
    cr_expect_eq(one.hints, 0, "not of what it did itself");
}

Test(waker, a_loop_does_not_run_for_it)
{
    answered(&one, NULL, "", 0);
    cr_assert_geq(one.waker.socket, 0);
    uv_unref((uv_handle_t *)&alive);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    uv_ref((uv_handle_t *)&alive);
}
