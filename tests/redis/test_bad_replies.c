/*
 * test_bad_replies.c: more than 200 replies that no correct server sends. Each closes the
 * connection with a clear error; the call fails, and the store continues.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/peer.h"
#include "store/rig.h"

#define HEAD "*25\r\n"
#define NOW  "1763692800000000"

/* An award of two runs; each test replaces one of its lines by a wrong one. */
static const char *const award[] = {
    HEAD,
    ":0\r\n",
    ":" NOW "\r\n",
    ":1763692800200000\r\n",
    ":1763692800250000\r\n",
    ":0\r\n",
    ":5\r\n",
    ":1\r\n",
    ":0\r\n",
    ":32\r\n",
    ":-1\r\n",
    "$0\r\n\r\n",
    ":" NOW "\r\n",
    ":0\r\n",
    ":0\r\n",
    ":0\r\n",
    ":1\r\n",
    ":5\r\n",
    ":1\r\n",
    ":1763692800010000\r\n",
    ":1\r\n",
    ":10000\r\n",
    ":2\r\n",
    ":3\r\n",
    ":20\r\n",
    ":1\r\n",
};
#define LINES ((int)(sizeof award / sizeof award[0]))

static const char *const wrong_lines[] = {
    ":-2\r\n",  ":9007199254740993\r\n", ":9223372036854775808\r\n",
    ":1.5\r\n", "$1\r\nx\r\n",           "$-1\r\n",
    "+OK\r\n",  "*1\r\n:1\r\n",          "$99999999\r\n",
    "\r\n",
};
#define WRONG ((int)(sizeof wrong_lines / sizeof wrong_lines[0]))

static const char deep[] = "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
                           "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n";

static const char *const others[] = {
    "+OK\r\n",
    ":1\r\n",
    "$-1\r\n",
    "$2\r\nOK\r\n",
    "*-1\r\n",
    "*0\r\n",
    "*1\r\n:0\r\n",
    "*1\r\n*0\r\n",
    "*1\r\n:128\r\n", /* a wish for keys that were named */
    "*1\r\n:32\r\n",
    "*9\r\n:0\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", /* another operation's */
    deep,
    "*2147483647\r\n",
    "*4294967297\r\n:1\r\n",
    "*-2\r\n",
    "$2147483647\r\n",
    "$-5\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "SSH-2.0-OpenSSH_9.2\r\n",
    "\x16\x03\x01\x02",
    "_\r\n",
    "%1\r\n+a\r\n+b\r\n",
    ">2\r\n+message\r\n+x\r\n",
    "\r\n\r\n",
    "\n",
    ":\r\n",
    "+OK\n+OK\n",
    "*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n",
};
#define OTHERS ((int)(sizeof others / sizeof others[0]))

static struct peer peer;
static struct rig rig;
static struct rig_call call;

/* A peer that answers so, and a store on the same loop. */
static void begin(const char *bytes, size_t size)
{
    takt_store_options options = {.name_space = "test", .timeout_us = 30000000};
    takt_error error = {0};
    char url[64];

    memset(&rig, 0, sizeof rig);
    uv_loop_init(&rig.loop);
    peer_listen(&peer, &rig.loop);
    peer.greeting = "+OK\r\n";
    peer.answer = bytes;
    peer.answer_size = size;
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?hints=off", peer.port);
    cr_assert_eq(takt_store_open(&rig.store, &rig.loop, url, &options, &error), 0, "%s",
                 error.text);
}

static void end(void)
{
    peer_close(&peer);
    rig_close(&rig);
}

static int claim(void)
{
    static takt_limit limit;

    limit = rig_limit("a", 100, 1000000, 5);
    rig_call_init(&call, TAKT_OP_CLAIM, &limit, "k");
    call.claim.waiting = 30;
    call.claim.want_count = 1;
    call.claim.wants[0] = (takt_want){30, TAKT_NEVER, 1, 5, {{0}}};
    return rig_run(&rig, &call);
}

/* We hang up, not the peer. */
static void await_end(void)
{
    while (peer.connected && peer.accepted == 1)
        uv_run(&rig.loop, UV_RUN_ONCE);
}

static void answer_with(const char *bytes, size_t size)
{
    begin(bytes, size);
    cr_expect_eq(claim(), TAKT_E_STORE, "%.*s", (int)size, bytes);
    cr_expect_not_null(rig.store->trouble);
    await_end();
    end();
}

static const char *whole_award(void)
{
    static char bytes[1024];

    bytes[0] = '\0';
    for (int i = 0; i < LINES; i++)
        strcat(bytes, award[i]);
    return bytes;
}

Test(bad_replies, the_good_one_is_taken)
{
    begin(whole_award(), 0);
    cr_expect_eq(claim(), 0, "%s", rig.store->trouble);
    cr_expect_eq(call.award.run_count, 2);
    end();
}

Test(bad_replies, an_award_with_one_wrong_line)
{
    int cases = 0;

    for (int at = 0; at < LINES; at++)
        for (int i = 0; i < WRONG; i++) {
            char bytes[2048] = "";
            for (int line = 0; line < LINES; line++)
                strcat(bytes, line == at ? wrong_lines[i] : award[line]);
            answer_with(bytes, strlen(bytes));
            cases++;
        }
    cr_expect_geq(cases, 200);
}

Test(bad_replies, all_kinds_of_others)
{
    static char large[200000];

    for (int i = 0; i < OTHERS; i++)
        answer_with(others[i], strlen(others[i]));
    memset(large, 'x', sizeof large);
    answer_with(large, sizeof large);
    large[0] = '+';
    answer_with(large, sizeof large);
    large[0] = '\0';
    answer_with(large, 1);
}

/* An answer, and then bytes without a question. */
Test(bad_replies, more_than_asked_for)
{
    char bytes[1024];

    snprintf(bytes, sizeof bytes, "%s:7\r\n", whole_award());
    begin(bytes, 0);
    cr_expect_eq(claim(), 0);
    await_end();
    cr_expect_not_null(strstr(rig.store->trouble, "without a command"), "%s", rig.store->trouble);
    end();
}

/* The connection is cut behind any byte of an answer. */
Test(bad_replies, cut_anywhere)
{
    for (size_t size = 1; size < strlen(whole_award()); size += 5) {
        begin(whole_award(), size);
        peer.hang_up = true;
        cr_expect_eq(claim(), TAKT_E_STORE);
        end();
    }
}
