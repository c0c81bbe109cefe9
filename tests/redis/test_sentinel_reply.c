/*
 * test_sentinel_reply.c: the answers and messages of a Sentinel: an address, no address, a move,
 * and malformed ones.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "redis/resp.h"
#include "redis/sentinel_reply.h"

#define BULK(size, text) "$" #size "\r\n" text "\r\n"

/* The first reply of a stream, valid until the next call. */
static const takt_reply *parse(const char *bytes)
{
    static takt_resp *resp;
    const takt_reply *reply = NULL;
    const char *why;

    if (resp == NULL)
        resp = takt_resp_new(NULL);
    cr_assert(takt_resp_restart(resp));
    cr_assert_eq(takt_resp_feed(resp, bytes, strlen(bytes), &why), 0);
    cr_assert_eq(takt_resp_next(resp, &reply, &why), 1, "%s", bytes);
    return reply;
}

Test(sentinel_reply, table)
{
    static const struct {
        const char *bytes;
        takt_sentinel_word word;
        const char *host;
        int port;
    } table[] = {
        {"*2\r\n" BULK(9, "127.0.0.1") BULK(4, "6379"), TAKT_SENTINEL_ADDRESS, "127.0.0.1", 6379},
        {"*2\r\n" BULK(3, "::1") BULK(5, "65535"), TAKT_SENTINEL_ADDRESS, "::1", 65535},
        {"*2\r\n" BULK(8, "db-1.lan") BULK(1, "1"), TAKT_SENTINEL_ADDRESS, "db-1.lan", 1},
        {"*-1\r\n", TAKT_SENTINEL_UNKNOWN, "", 0},
        {"$-1\r\n", TAKT_SENTINEL_UNKNOWN, "", 0},
        {"*3\r\n" BULK(7, "message") BULK(1, "c") BULK(1, "m"), TAKT_SENTINEL_MESSAGE, "", 0},
        {"*2\r\n" BULK(7, "message") BULK(1, "c"), TAKT_SENTINEL_OTHER, "", 0},
        {"*2\r\n" BULK(0, "") BULK(4, "6379"), TAKT_SENTINEL_OTHER, "", 0},
        {"*2\r\n" BULK(3, "h h") BULK(4, "6379"), TAKT_SENTINEL_OTHER, "", 0},
        {"*2\r\n" BULK(1, "h") BULK(1, "0"), TAKT_SENTINEL_OTHER, "", 0},
        {"*2\r\n" BULK(1, "h") BULK(5, "65536"), TAKT_SENTINEL_OTHER, "", 0},
        {"*2\r\n" BULK(1, "h") BULK(2, "1x"), TAKT_SENTINEL_OTHER, "", 0},
        {"*2\r\n" BULK(1, "h") ":1\r\n", TAKT_SENTINEL_OTHER, "", 0},
        {"*0\r\n", TAKT_SENTINEL_OTHER, "", 0},
        {"*3\r\n" BULK(9, "subscribe") BULK(1, "c") ":1\r\n", TAKT_SENTINEL_OTHER, "", 0},
        {"-IDONTKNOW\r\n", TAKT_SENTINEL_OTHER, "", 0},
        {"+OK\r\n", TAKT_SENTINEL_OTHER, "", 0},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_redis_address server = {.host = "", .port = 0};
        cr_expect_eq(takt_sentinel_reply(parse(table[i].bytes), &server), table[i].word, "%s",
                     table[i].bytes);
        cr_expect_str_eq(server.host, table[i].host);
        cr_expect_eq(server.port, table[i].port);
    }
}

Test(sentinel_reply, moves)
{
#define MESSAGE(text) "*3\r\n" BULK(7, "message") BULK(14, "+switch-master") text
    cr_expect(takt_sentinel_moves(parse(MESSAGE(BULK(14, "main h 1 h 222"))), "main"));
    cr_expect_not(takt_sentinel_moves(parse(MESSAGE(BULK(14, "main2 h 1 h 22"))), "main"));
    cr_expect_not(takt_sentinel_moves(parse(MESSAGE(BULK(4, "main"))), "main"));
    cr_expect_not(takt_sentinel_moves(parse(MESSAGE(BULK(0, ""))), "main"));
    cr_expect_not(takt_sentinel_moves(parse(MESSAGE(":1\r\n")), "main"));
    cr_expect_not(takt_sentinel_moves(
        parse("*3\r\n" BULK(7, "message") "*1\r\n" BULK(1, "x") BULK(6, "main 1")), "main"));
}
