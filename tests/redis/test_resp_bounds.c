/*
 * test_resp_bounds.c: which streams of bytes are replies that we expect, whole, byte by byte, and
 * after any number of others.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <takt/error.h>

#include "redis/resp_bounds.h"

static const struct {
    const char *bytes;
    bool fine;
} table[] = {
    {"+OK\r\n", true},
    {"+\r\n", true},
    {"-ERR x\r\n", true},
    {":0\r\n", true},
    {":-1\r\n", true},
    {":9223372036854775807\r\n", true},
    {":-9223372036854775808\r\n", true},
    {"$0\r\n\r\n", true},
    {"$3\r\na\r\n\r\n", true},
    {"$-1\r\n", true},
    {"*0\r\n", true},
    {"*-1\r\n", true},
    {"*2\r\n:1\r\n$1\r\nx\r\n", true},
    {"*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", true},
    {"*2\r\n*0\r\n*2\r\n:1\r\n:2\r\n+x\r\n", true},
    {"*1\r\n*1\r\n*1\r\n*1\r\n*0\r\n", true},
    {"", true},
    /* not RESP2 */
    {"x", false},
    {"\r\n", false},
    {"\n", false},
    {"HTTP/1.1 400 Bad Request\r\n", false},
    {"_\r\n", false},
    {"#t\r\n", false},
    {",1.5\r\n", false},
    {"(1\r\n", false},
    {"!3\r\nERR\r\n", false},
    {"=7\r\ntxt:abc\r\n", false},
    {"%1\r\n+a\r\n:1\r\n", false},
    {"~1\r\n:1\r\n", false},
    {">1\r\n:1\r\n", false},
    {"|1\r\n+a\r\n:1\r\n", false},
    /* numbers that are none */
    {":\r\n", false},
    {":-\r\n", false},
    {":+1\r\n", false},
    {":01\r\n", false},
    {":-0\r\n", false},
    {":1 \r\n", false},
    {": 1\r\n", false},
    {":1.0\r\n", false},
    {":0x1\r\n", false},
    {":9223372036854775808\r\n", false},
    {":-9223372036854775809\r\n", false},
    {":111111111111111111111", false},
    {"$\r\n", false},
    {"$-2\r\n", false},
    {"$+1\r\n", false},
    {"$01\r\n", false},
    {"$x\r\n", false},
    {"*\r\n", false},
    {"*-2\r\n", false},
    {"*x\r\n", false},
    {"*1.5\r\n", false},
    {"$99999999999999999999\r\n", false},
    {"*99999999999999999999\r\n", false},
    /* lines that do not end as they should */
    {"+OK\n", false},
    {"+OK\r\r\n", false},
    {"+O\rK\r\n", false},
    {":1\n", false},
    {":1\rx", false},
    {"$1\n", false},
    {"$1\r\nxy\r\n", false},
    {"$1\r\nx\n\n", false},
    {"$1\r\nx\r\r", false},
    {"$0\r\nx", false},
    /* more than we ask for */
    {"$1114113\r\n", false},
    {"$2147483647\r\n", false},
    {"$9223372036854775807\r\n", false},
    {"*1025\r\n", false},
    {"*2147483648\r\n", false},
    {"*4294967297\r\n", false},
    {"*9223372036854775807\r\n", false},
    {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", false},
    {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
     "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
     false},
    {"*2\r\n*1023\r\n", true}, /* so far */
};

static bool pass(takt_resp_bounds *bounds, const char *bytes, size_t size)
{
    const char *why = NULL;
    bool fine = takt_resp_bounds_pass(bounds, bytes, size, &why) == 0;

    cr_expect(fine || why != NULL);
    return fine;
}

Test(resp_bounds, whole)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_resp_bounds bounds = {0};
        cr_expect_eq(pass(&bounds, table[i].bytes, strlen(table[i].bytes)), table[i].fine, "%s",
                     table[i].bytes);
    }
}

Test(resp_bounds, byte_by_byte_after_others)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_resp_bounds bounds = {0};
        bool fine = true;
        for (int other = 0; other < 3; other++)
            cr_assert(pass(&bounds, "*2\r\n$2\r\n\r\n\r\n*1\r\n:7\r\n", 20), "%d", other);
        cr_assert(bounds.state == TAKT_RESP_TYPE && bounds.depth == 0 && bounds.nodes == 0);
        for (const char *at = table[i].bytes; *at != '\0' && fine; at++)
            fine = pass(&bounds, at, 1);
        cr_expect_eq(fine, table[i].fine, "%s", table[i].bytes);
    }
}

Test(resp_bounds, sums)
{
    static char large[TAKT_RESP_BYTES_MAX + 4];
    char text[64];
    takt_resp_bounds bounds = {0};
    int size;

    /* the strings of one reply together */
    size = snprintf(text, sizeof text, "*3\r\n$%d\r\n", TAKT_RESP_BYTES_MAX - 1);
    cr_assert(pass(&bounds, text, (size_t)size));
    cr_assert(pass(&bounds, large, TAKT_RESP_BYTES_MAX - 1));
    cr_assert(pass(&bounds, "\r\n$1\r\nx\r\n", 9));
    cr_expect(!pass(&bounds, "$1\r\n", 4));

    /* the next reply begins again */
    memset(&bounds, 0, sizeof bounds);
    for (int i = 0; i < 3; i++) {
        size = snprintf(text, sizeof text, "$%d\r\n", TAKT_RESP_BYTES_MAX);
        cr_assert(pass(&bounds, text, (size_t)size));
        cr_assert(pass(&bounds, large, TAKT_RESP_BYTES_MAX));
        cr_assert(pass(&bounds, "\r\n", 2));
    }

    /* values of nested arrays together */
    memset(&bounds, 0, sizeof bounds);
    cr_assert(pass(&bounds, "*2\r\n*1000\r\n", 11));
    for (int i = 0; i < 1000; i++)
        cr_assert(pass(&bounds, ":1\r\n", 4));
    cr_assert(pass(&bounds, "*1000\r\n", 7));
    for (int i = 0; i < 21; i++)
        cr_assert(pass(&bounds, ":1\r\n", 4), "%d", i);
    cr_expect(!pass(&bounds, ":", 1));

    /* a line */
    memset(large, 'x', sizeof large);
    memset(&bounds, 0, sizeof bounds);
    large[0] = '-';
    cr_assert(pass(&bounds, large, TAKT_RESP_LINE_MAX + 1));
    cr_expect(!pass(&bounds, "x", 1));
}

/* Other readers set other bounds, and get their own code. */
Test(resp_bounds, of_others)
{
    static const takt_resp_max max = {6, 2000, 10, TAKT_E_STORE_SPACE};
    static const struct {
        const char *bytes;
        int code;
    } others[] = {
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", 0},
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", TAKT_E_STORE_SPACE},
        {"*2000\r\n", 0},
        {"*2001\r\n", TAKT_E_STORE_SPACE},
        {"*2\r\n$5\r\nabcde\r\n$5\r\nabcde\r\n", 0},
        {"*2\r\n$5\r\nabcde\r\n$6\r\n", TAKT_E_STORE_SPACE},
        {"$-2\r\n", TAKT_E_STORE},
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        takt_resp_bounds bounds = {.max = &max};
        const char *why = NULL;
        cr_expect_eq(takt_resp_bounds_pass(&bounds, others[i].bytes, strlen(others[i].bytes), &why),
                     others[i].code, "%s", others[i].bytes);
    }
}
