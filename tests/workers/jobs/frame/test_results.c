/*
 * The line of a result: its id first, in the words of JSON, and nothing of it twice.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "jobs/frame/results.h"

static void check_line(json_t *result, const char *id, const char *expected)
{
    takt_buffer lines = {0};

    takt_buffer_text(&lines, "before\n");
    takt_results_write(&lines, result, id);
    cr_assert(!lines.failed);
    cr_assert_str_eq(takt_buffer_end(&lines) + strlen("before\n"), expected);
    takt_buffer_free(&lines);
    json_decref(result);
}

Test(results, lines)
{
    check_line(json_object(), "a", "{\"id\":\"a\"}\n");
    check_line(json_pack("{s:i, s:s}", "n", -3, "text", "a\nb"), "m-17",
               "{\"id\":\"m-17\",\"n\":-3,\"text\":\"a\\nb\"}\n");
    check_line(json_pack("{s:[n, b, {}]}", "list", 1), "\"\\\xc3\xa9",
               "{\"id\":\"\\\"\\\\\xc3\xa9\",\"list\":[null,true,{}]}\n");
}

/* A result is found by the id of its job, in every kind of worker. */
Test(results, id_of_a_result)
{
    check_line(json_pack("{s:s, s:s}", "id", "another", "x", "y"), "own",
               "{\"id\":\"own\",\"x\":\"y\"}\n");
    check_line(json_pack("{s:s}", "id", "another"), "own", "{\"id\":\"own\"}\n");
}

/* Seconds as they were measured, without the digits that make a double of them. */
Test(results, seconds)
{
    check_line(json_pack("{s:f, s:f, s:f}", "a", 0.083, "b", 17.0, "c", 1234567.000001), "i",
               "{\"id\":\"i\",\"a\":0.083,\"b\":17.0,\"c\":1234567.000001}\n");
}

Test(results, long_text)
{
    size_t size = 100000;
    takt_buffer lines = {0};
    char *text = malloc(size);

    memset(text, '"', size);
    json_t *result = json_pack("{s:s%}", "text", text, size);
    takt_results_write(&lines, result, "i");
    json_t *again = json_loadb(lines.at, lines.size, 0, NULL);
    cr_assert(json_equal(json_object_get(again, "text"), json_object_get(result, "text")));
    json_decref(again);
    json_decref(result);
    takt_buffer_free(&lines);
    free(text);
}
