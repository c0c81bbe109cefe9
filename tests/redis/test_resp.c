/*
 * test_resp.c: replies become values, however the bytes are split, and commands become bytes.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <takt/error.h>

#include "redis/resp.h"
#include "redis/resp_bounds.h"

/* A reply of every type: a status, an error, a number, strings, nothing, arrays in an array. */
static const char stream[] = "*7\r\n+OK\r\n-ERR no\r\n:-42\r\n$5\r\na\r\n\0b\r\n$-1\r\n*0\r\n"
                             "*2\r\n*1\r\n:1\r\n$0\r\n\r\n"
                             ":9007199254740992\r\n";

static void check_first(const takt_reply *reply)
{
    static const takt_reply_type types[] = {TAKT_REPLY_ARRAY,   TAKT_REPLY_STATUS, TAKT_REPLY_ERROR,
                                            TAKT_REPLY_INTEGER, TAKT_REPLY_STRING, TAKT_REPLY_NIL,
                                            TAKT_REPLY_ARRAY,   TAKT_REPLY_ARRAY,  TAKT_REPLY_ARRAY,
                                            TAKT_REPLY_INTEGER, TAKT_REPLY_STRING};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        cr_expect_eq(reply[i].type, types[i], "%zu", i);
    cr_expect_eq(reply[0].count, 7);
    cr_expect_str_eq(reply[1].text, "OK");
    cr_expect_str_eq(reply[2].text, "ERR no");
    cr_expect_eq(reply[3].integer, -42);
    cr_expect_eq(reply[4].size, 5);
    cr_expect(memcmp(reply[4].text, "a\r\n\0b", 6) == 0, "with NUL behind it");
    cr_expect_eq(reply[6].count, 0);
    cr_expect_eq(reply[7].count, 2);
    cr_expect_eq(reply[8].count, 1);
    cr_expect_eq(reply[10].size, 0);
}

Test(resp, reads_in_any_pieces)
{
    for (size_t piece = 1; piece <= sizeof stream - 1; piece++) {
        takt_resp *resp = takt_resp_new(NULL);
        const char *why = NULL;
        int replies = 0;
        cr_assert_not_null(resp);
        for (size_t at = 0; at < sizeof stream - 1; at += piece) {
            size_t left = sizeof stream - 1 - at;
            const takt_reply *reply;
            cr_assert_eq(takt_resp_feed(resp, stream + at, left < piece ? left : piece, &why), 0);
            while (takt_resp_next(resp, &reply, &why) == 1) {
                if (replies++ == 0)
                    check_first(reply);
                else
                    cr_expect_eq(reply->integer, INT64_C(9007199254740992));
            }
        }
        cr_expect_eq(replies, 2, "in pieces of %zu", piece);
        takt_resp_free(resp);
    }
}

Test(resp, refuses)
{
    static const char *const bad[] = {"x", ":1x\r\n", "*9999999999\r\n", "$1200000\r\n", "_\r\n"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        takt_resp *resp = takt_resp_new(NULL);
        const char *why = NULL;
        cr_expect_eq(takt_resp_feed(resp, bad[i], strlen(bad[i]), &why), TAKT_E_STORE);
        cr_expect_not_null(why);
        cr_assert(takt_resp_restart(resp));
        cr_expect_eq(takt_resp_feed(resp, "+OK\r\n", 5, &why), 0, "a new stream begins anew");
        takt_resp_free(resp);
    }
}

/* What came before something that is not to be read is a reply all the same, also in one piece. */
Test(resp, refuses_behind_replies)
{
    static const char bytes[] = ":1\r\n*1\r\n:2\r\n*2\r\n:3\r\nx\r\n:4\r\n";

    for (size_t piece = 1; piece < sizeof bytes; piece++) {
        takt_resp *resp = takt_resp_new(NULL);
        const takt_reply *reply;
        const char *why = NULL;
        int status = 0, replies = 0;
        for (size_t at = 0; at < sizeof bytes - 1 && status == 0; at += piece) {
            size_t left = sizeof bytes - 1 - at;
            status = takt_resp_feed(resp, bytes + at, left < piece ? left : piece, &why);
            while (status == 0 && (status = takt_resp_next(resp, &reply, &why)) == 1) {
                replies++;
                status = 0;
            }
        }
        cr_expect_eq(status, TAKT_E_STORE, "in pieces of %zu", piece);
        cr_expect_not_null(why);
        cr_expect_eq(replies, 2, "in pieces of %zu", piece);
        takt_resp_free(resp);
    }
}

/* The largest replies that the bounds let pass fit. */
Test(resp, largest)
{
    takt_resp *resp = takt_resp_new(NULL);
    size_t size = 16 + (size_t)TAKT_RESP_NODES_MAX * 80 + TAKT_RESP_BYTES_MAX;
    char *bytes = malloc(size);
    const takt_reply *reply = NULL;
    const char *why = NULL;
    size_t at;

    for (int again = 0; again < 2; again++) {
        at = (size_t)sprintf(bytes, "*%d\r\n", TAKT_RESP_NODES_MAX - 1);
        for (int i = 1; i < TAKT_RESP_NODES_MAX; i++)
            at += (size_t)sprintf(bytes + at, "$64\r\n%064d\r\n", i);
        cr_assert_leq(at, size);
        cr_assert_eq(takt_resp_feed(resp, bytes, at, &why), 0);
        cr_assert_eq(takt_resp_next(resp, &reply, &why), 1);
        cr_expect_eq(reply[TAKT_RESP_NODES_MAX - 1].size, 64);
        cr_expect_eq(atoi(reply[TAKT_RESP_NODES_MAX - 1].text), TAKT_RESP_NODES_MAX - 1);
        at = (size_t)sprintf(bytes, "$%d\r\n", TAKT_RESP_BYTES_MAX);
        memset(bytes + at, 'x', TAKT_RESP_BYTES_MAX);
        memcpy(bytes + at + TAKT_RESP_BYTES_MAX, "\r\n", 2);
        cr_assert_eq(takt_resp_feed(resp, bytes, at + TAKT_RESP_BYTES_MAX + 2, &why), 0);
        cr_assert_eq(takt_resp_next(resp, &reply, &why), 1);
        cr_expect_eq(reply->size, TAKT_RESP_BYTES_MAX);
        cr_expect_eq(takt_resp_next(resp, &reply, &why), 0);
    }
    free(bytes);
    takt_resp_free(resp);
}

Test(resp, writes_commands)
{
    static const char *const first[] = {"GET", "a\r\nb"};
    static const char *const second[] = {"SET", "k", "x\0y", ""};
    static const char bytes[] = "*2\r\n$3\r\nGET\r\n$4\r\na\r\nb\r\n"
                                "*4\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\nx\0y\r\n$0\r\n\r\n";
    takt_resp_out out = {0};

    cr_assert(takt_resp_command(&out, 2, first, (size_t[]){3, 4}));
    cr_assert(takt_resp_command(&out, 4, second, (size_t[]){3, 1, 3, 0}));
    cr_assert_eq(out.size, sizeof bytes - 1);
    cr_expect(memcmp(out.bytes, bytes, out.size) == 0);
    free(out.bytes);
}

Test(resp, free_of_nothing)
{
    takt_resp_free(NULL);
}
