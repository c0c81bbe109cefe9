/*
 * Our short ways to read and to write JSON against jansson's own: what is read is the same, what is
 * odd is left to jansson, and what is written reads as what it was.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

#include "jobs/json_read.h"
#include "jobs/json_write.h"

static const struct {
    const char *text;
    bool is_read; /* here; else jansson is asked */
} texts[] = {
    {"{}", true},
    {" { \"a\" :\t1 , \"b\" : [ ] }\r\n", true},
    {"{\"id\":\"c-1\",\"limit\":\"v\",\"cost\":3,\"json\":{\"x\":[1,-2,{\"y\":null}]}}", true},
    {"{\"a\":[true,false,null,0,-0,-17,999999999999999999,[[]],{}]}", true},
    {"{\"a\":\"\",\"\":\"x\"}", true},
    {"{\"a\":\"one\\ntwo \\\"q\\\" \\\\ \\/ \\b\\f\\r\\t\"}", true},
    {"{\"a\":\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\\n\"}", true},
    {"{\"a\":\"\x7f\"}", true},
    {"{\"a\":\"\\u00e9\"}", false},
    {"{\"a\":\"\\ud83d\\ude00\"}", false},
    {"{\"a\":\"\\u0000\"}", false},
    {"{\"\xc3\xa9\":1}", false},
    {"{\"a\\n\":1}", false},
    {"{\"a\":1.5,\"b\":1e3,\"c\":1000000000000000000}", false},
    {"{\"a\":1,\"a\":2}", false},
    {"{\"a\":{\"b\":1,\"b\":1}}", false},
    {"{\"a\":\"\xff\"}", false},
    {"{\"a\":\"\xc3\"}", false},
    {"{\"a\":\"x\ny\"}", false},
    {"{\"a\":\"x", false},
    {"{\"a\":\"x\\\"}", false},
    {"{\"a\":\"\\x\"}", false},
    {"{\"a\":01}", false},
    {"{\"a\":-}", false},
    {"{\"a\":+1}", false},
    {"{\"a\":truer}", false},
    {"{\"a\":tru", false},
    {"{\"a\":1,}", false},
    {"{\"a\":[1,]}", false},
    {"{\"a\":[1 2]}", false},
    {"{\"a\" 1}", false},
    {"{a:1}", false},
    {"{,}", false},
    {"{", false},
    {"{\"a\":", false},
    {"{} {}", false},
    {"[1]", false},
    {"\"x\"", false},
    {"", false},
    {"{\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", false},
};
#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static char *dump(const json_t *value)
{
    return json_dumps(value, JSON_COMPACT);
}

/* What is read here is what jansson reads, in the same order. */
static bool check_read(const char *text, size_t size)
{
    char *whole = malloc(size ? size : 1); /* of its size, so that reading beyond is seen */
    memcpy(whole, text, size);
    json_t *read = json_read(whole, size);
    json_t *known = json_loadb(whole, size, JSON_REJECT_DUPLICATES, NULL);
    bool is_read = read != NULL;

    if (read) {
        char *ours = dump(read), *theirs = known ? dump(known) : NULL;
        cr_assert(theirs, "jansson refuses %.*s", (int)size, text);
        cr_assert_str_eq(ours, theirs);
        free(ours);
        free(theirs);
    }
    json_decref(read);
    json_decref(known);
    free(whole);
    return is_read;
}

Test(json, read)
{
    for (size_t i = 0; i < TEXTS; i++)
        cr_assert_eq(check_read(texts[i].text, strlen(texts[i].text)), texts[i].is_read, "%s",
                     texts[i].text);
}

/* The same with bytes changed, left out and put in. */
Test(json, read_of_anything)
{
    static const char bytes[] = "\"\\{}[]:,0129-+.eEtfn u/ \n\x01\x7f\xc3\xa9\xff";
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)atol(given) : 1;
    int read = 0;

    for (int turn = 0; turn < 200000; turn++) {
        char text[256];
        const char *from = texts[(unsigned)rand_r(&seed) % TEXTS].text;
        size_t size = strlen(from);
        memcpy(text, from, size);
        for (int changes = rand_r(&seed) % 4; changes > 0 && size > 0; changes--) {
            size_t at = (size_t)rand_r(&seed) % size;
            if (rand_r(&seed) % 3 == 0)
                memmove(text + at, text + at + 1, --size - at);
            else
                text[at] = bytes[(size_t)rand_r(&seed) % sizeof(bytes)]; /* NUL as well */
        }
        read += check_read(text, size);
    }
    cr_assert_gt(read, 10000);
}

static void check_written(json_t *value, const char *expected)
{
    json_text text = {0};

    json_put_bytes(&text, "before ", 7);
    json_put(&text, value);
    json_put_bytes(&text, "", 1);
    cr_assert(!text.failed);
    cr_assert_str_eq(text.at, expected);
    free(text.at);
    json_decref(value);
}

Test(json, written)
{
    check_written(json_pack("{s:[i,I,b,b,n], s:s, s:{}}", "b", 1, (json_int_t)-17, 1, 0, "a",
                            "\"\\\b\f\n\r\t\x01\x1f\x7f/\xc3\xa9", "c"),
                  "before {\"b\":[1,-17,true,false,null],\"a\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001"
                  "\\u001f\x7f/\xc3\xa9\",\"c\":{}}");
    check_written(json_stringn("a\0b", 3), "before \"a\\u0000b\"");
    check_written(json_integer(INT64_MIN), "before -9223372036854775808");
    check_written(json_integer(INT64_MAX), "before 9223372036854775807");
}

Test(json, reals)
{
    static const struct {
        double value;
        const char *text;
    } reals[] = {
        {0, "before 0.0"},
        {0.083, "before 0.083"},
        {0.000001, "before 0.000001"},
        {-1.5, "before -1.5"},
        {17, "before 17.0"},
        {999999.999999, "before 999999.999999"},
        {0.1234567, "before 0.1234567"},
        {1e300, "before 1e300"},
        {1234567.25, "before 1234567.25"},
    };

    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
        check_written(json_real(reals[i].value), reals[i].text);
}

Test(json, parts)
{
    json_text text = {0};

    json_put_name(&text, "a\"");
    json_put_millionths(&text, 1500000);
    json_put_name(&text, "b");
    json_put_integer(&text, -3);
    json_put_name(&text, "c");
    json_put_string(&text, "x\0\xc3\xa9", 4);
    json_put_bytes(&text, "", 1);
    cr_assert_str_eq(text.at, ",\"a\\\"\":1.5,\"b\":-3,\"c\":\"x\\u0000\xc3\xa9\"");
    free(text.at);
}

/* Longer than what the buffer begins with. */
Test(json, long_text)
{
    size_t size = 100000;
    char *long_one = malloc(size);
    json_text text = {0};

    memset(long_one, '"', size);
    json_t *value = json_stringn(long_one, size);
    json_put(&text, value);
    cr_assert(!text.failed);
    json_t *again = json_loadb(text.at, text.size, JSON_DECODE_ANY, NULL);
    cr_assert(json_equal(value, again));
    json_decref(value);
    json_decref(again);
    free(text.at);
    free(long_one);
}
