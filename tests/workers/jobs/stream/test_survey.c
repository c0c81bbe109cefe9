/*
 * test_survey.c: begins of entries that a worker notes while it is not connected, or looks what it
 * has. The connection is the test's: it keeps the commands and sends nothing.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "workers/jobs/stream/unsent.h"

#define PAGE         500 /* rows of a full page */
#define COMMANDS_MAX 8
#define WORDS_MAX    16

typedef struct sent {
    takt_redis_command *command;
    char words[WORDS_MAX][32]; /* the first ones */
} sent;

struct takt_redis {
    sent sent[COMMANDS_MAX];
    int count, answered;
};

static struct takt_redis writer;
static takt_stream stream;
static int noted;

int takt_redis_send(takt_redis *redis, takt_redis_command *command, int count,
                    const char *const *arguments, const size_t *sizes)
{
    sent *next = &redis->sent[redis->count++];

    cr_assert(redis->count <= COMMANDS_MAX);
    next->command = command;
    for (int i = 0; i < count && i < WORDS_MAX; i++)
        snprintf(next->words[i], sizeof next->words[i], "%.*s", (int)sizes[i], arguments[i]);
    return 0;
}

static void on_noted(void *data)
{
    (void)data;
    noted++;
}

static const takt_job_source_events events = {.noted = on_noted};

/* The answer to the oldest command, which begins with that word. */
static void answer(const char *word, const takt_reply *reply)
{
    sent *oldest = &writer.sent[writer.answered++];

    cr_assert(writer.answered <= writer.count);
    cr_expect_str_eq(oldest->words[0], word);
    oldest->command->answered(oldest->command, reply, 0);
}

static void answer_nothing(const char *word)
{
    answer(word, &(takt_reply){.type = TAKT_REPLY_ARRAY, .text = ""});
}

/* A page of the server's list: the entries 1-1, 1-2 ..., each delivered so often. */
static void answer_page(int rows, int64_t delivered)
{
    static takt_reply page[1 + PAGE * 5];
    static char ids[PAGE][16];

    page[0] = (takt_reply){.type = TAKT_REPLY_ARRAY, .count = rows, .text = ""};
    for (int i = 0; i < rows; i++) {
        takt_reply *row = &page[1 + i * 5];
        int size = snprintf(ids[i], sizeof ids[i], "1-%d", i + 1);
        row[0] = (takt_reply){.type = TAKT_REPLY_ARRAY, .count = 4, .text = ""};
        row[1] = (takt_reply){.type = TAKT_REPLY_STRING, .text = ids[i], .size = (size_t)size};
        row[2] = (takt_reply){.type = TAKT_REPLY_STRING, .text = "c", .size = 1};
        row[3] = (takt_reply){.type = TAKT_REPLY_INTEGER, .integer = 5, .text = ""};
        row[4] = (takt_reply){.type = TAKT_REPLY_INTEGER, .integer = delivered, .text = ""};
    }
    answer("XPENDING", page);
}

/* A worker that was connected and has so many entries, each delivered once. */
static void have(uint64_t entries)
{
    stream = (takt_stream){.idle_us = 5000000,
                           .loop = uv_default_loop(),
                           .phase = TAKT_STREAM_AWAY,
                           .events = &events,
                           .answered = on_answered,
                           .names = {.key = "k", .group = "g", .consumer = "c"},
                           .connection.writer = &writer,
                           .worked = true};
    for (uint64_t i = 1; i <= entries; i++)
        takt_stream_held_add(&stream.held, (takt_job_ref){1, i}, TAKT_STREAM_HELD_OURS)->count = 1;
}

static void begin(void)
{
    takt_stream_end_note_begun(&stream, (takt_job_ref){1, 1}, 1);
    takt_stream_end_say(&stream);
}

static void look(void)
{
    stream.phase = TAKT_STREAM_LOOKS;
    takt_stream_survey_start(&stream);
}

static bool is_noting(void)
{
    return takt_stream_held_find(&stream.held, (takt_job_ref){1, 1})->noting;
}

/* The begin is sent, once, and the worker hears of the answer. */
static void expect_sent(void)
{
    const sent *last = &writer.sent[writer.count - 1];

    cr_assert_eq(writer.count, writer.answered + 1);
    cr_expect_str_eq(last->words[5], "1-1");
    cr_expect_str_eq(last->words[6], "RETRYCOUNT");
    cr_expect_str_eq(last->words[7], "2");
    cr_expect(is_noting() && noted == 0);
    answer_nothing("XCLAIM");
    cr_expect(!is_noting() && noted == 1);
}

static void leave(void)
{
    takt_stream_held_free(&stream.held);
    takt_stream_end_free(&stream.ends);
    uv_loop_close(stream.loop);
}

Test(survey, sends_what_begins_after_its_page_was_read)
{
    have(PAGE);
    look();
    answer_page(PAGE, 1);
    begin();
    answer_nothing("XCLAIM");
    cr_expect_eq(stream.phase, TAKT_STREAM_LOOKS);
    answer_nothing("XPENDING");
    expect_sent();
    leave();
}

Test(survey, sends_again_what_the_server_has_not_recorded)
{
    have(1);
    begin();
    look();
    answer_page(1, 1);
    answer_nothing("XCLAIM");
    expect_sent();
    leave();
}

Test(survey, shows_that_the_server_has_recorded_a_begin)
{
    have(1);
    begin();
    look();
    answer_page(1, 2);
    answer_nothing("XCLAIM");
    cr_expect_eq(writer.count, writer.answered, "it is not sent again");
    cr_expect(!is_noting());
    leave();
}
