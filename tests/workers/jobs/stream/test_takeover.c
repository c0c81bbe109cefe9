/*
 * test_takeover.c: a worker's use of answers about entries of other workers, also of malformed
 * ones. The connection is the test's: it keeps the last command and sends nothing.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "workers/jobs/stream/unsent.h"

struct takt_redis {
    takt_redis_command *command;
    char words[32][64]; /* of the last command */
    int count;
};

static struct takt_redis writer;
static takt_stream stream;

int takt_redis_send(takt_redis *redis, takt_redis_command *command, int count,
                    const char *const *arguments, const size_t *sizes)
{
    redis->command = command;
    redis->count = count;
    for (int i = 0; i < count && i < 32; i++)
        snprintf(redis->words[i], sizeof redis->words[i], "%.*s", (int)sizes[i], arguments[i]);
    return 0;
}

static takt_reply number(int64_t value)
{
    return (takt_reply){.type = TAKT_REPLY_INTEGER, .integer = value, .text = ""};
}

static takt_reply text(const char *words)
{
    return (takt_reply){.type = TAKT_REPLY_STRING, .text = words, .size = strlen(words)};
}

static takt_reply array(int count)
{
    return (takt_reply){.type = TAKT_REPLY_ARRAY, .count = count, .text = ""};
}

static void answer(const takt_reply *reply)
{
    writer.command->answered(writer.command, reply, 0);
}

/* A worker that looks for abandoned entries, and an answer that names a worker with entries that
 * has been silent for so long. */
static void look(int64_t idle_ms)
{
    const takt_reply consumers[] = {array(1),        array(6),  text("name"), text("dead"),
                                    text("pending"), number(1), text("idle"), number(idle_ms)};

    stream = (takt_stream){.idle_us = 5000000,
                           .phase = TAKT_STREAM_WORKS,
                           .answered = on_answered,
                           .names = {.key = "k", .group = "g", .consumer = "c"},
                           .connection.writer = &writer,
                           .read.want = 5};
    takt_stream_takeover_look(&stream);
    cr_assert_str_eq(writer.words[0], "XINFO");
    answer(consumers);
}

Test(takeover, of_one_that_was_not_heard_of)
{
    static const struct {
        int64_t idle_ms;
        const char *command;
    } table[] = {{4999, "XAUTOCLAIM"},    {5000, "XPENDING"}, {INT64_MAX / 1000, "XPENDING"},
                 {INT64_MAX, "XPENDING"}, {-1, "XAUTOCLAIM"}, {INT64_MIN, "XAUTOCLAIM"}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        look(table[i].idle_ms);
        cr_expect_str_eq(writer.words[0], table[i].command, "row %zu: %s", i, writer.words[0]);
        answer(NULL);
    }
}

Test(takeover, names_the_entries_that_were_listed)
{
    const takt_reply rows[] = {array(2),     array(4),  text("1-1"), text("dead"),
                               number(5),    number(1), array(4),    text("1-2"),
                               text("dead"), number(5), number(1)};

    look(9000);
    answer(rows);
    cr_assert_str_eq(writer.words[0], "XCLAIM");
    cr_expect_eq(writer.count, 8);
    cr_expect_str_eq(writer.words[5], "1-1");
    cr_expect_str_eq(writer.words[6], "1-2");
    answer(NULL);
}

/* Behind the answer are bytes of an earlier one in the same memory. */
Test(takeover, reads_nothing_behind_rows_that_are_none)
{
    const takt_reply rows[] = {array(2),    number(1),   number(2),   text("8-1"),
                               text("8-2"), text("8-3"), text("8-4"), text("8-5")};

    look(9000);
    answer(rows);
    cr_assert_str_eq(writer.words[0], "XCLAIM");
    cr_expect_eq(writer.count, 6, "%d", writer.count);
    answer(NULL);
}
