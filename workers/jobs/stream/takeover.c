/*
 * takeover.c: takes over the entries of dead workers.
 *
 * A consumer that has entries and was silent for too long is dead; its entries are claimed as far
 * as there is room here. Several workers do this at the same time, and each entry goes to one of
 * them. A living consumer may not know an entry of its own; such entries are found by reading the
 * list of all consumers' entries, a few at a time.
 *
 * Consumers without entries are removed after a while.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stream.h"

#define TAKE_MAX    256
#define WALK        "16"  /* the server looks at ten times as many */
#define ROUNDS_MAX  16    /* between two ticks */
#define PAGE        "500" /* more than one read brings, at most TAKT_STREAM_COMMAND_MAX */
#define PAGE_SIZE   500
#define IDLE_MAX_MS (INT64_MAX / 1000)
#define GONE_AFTER  20 /* in multiples of the time after which jobs are taken over */

static const takt_job_ref none = {0, 0};

static void take_from(takt_stream *stream);

/* How long an entry must be idle, as text. */
static const char *idle_of(const takt_stream *stream, char text[24])
{
    snprintf(text, 24, "%" PRId64, stream->idle_us / 1000);
    return text;
}

/* Ends a command: whether its answer is a list that still matters. */
static bool is_answer(takt_stream *stream, const takt_reply *reply)
{
    stream->takeover.under_way = false;
    if (reply == NULL || stream->closing)
        return false;
    if (reply->type != TAKT_REPLY_ARRAY)
        takt_stream_connection_refused(stream, stream->connection.writer, reply);
    return reply->type == TAKT_REPLY_ARRAY;
}

/* Takes ids that belong to this worker now. */
static void take_all(takt_stream *stream, const takt_reply *ids)
{
    takt_job_ref ref;

    for (int i = 0; i < ids->count; i++)
        if (takt_stream_names_read_entry(&ids[1 + i], &ref) &&
            !takt_stream_held_find(&stream->held, ref))
            takt_stream_read_taken(stream, ref);
}

/* ---- a walk through everything --------------------------------------------------------------- */

/* [NEXT, [ID ...], ...] */
static void on_walked(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream *stream = call->stream;

    (void)code;
    if (!is_answer(stream, reply))
        return;
    if (reply->count < 2 || reply[1].size >= TAKT_STREAM_ENTRY_SIZE) {
        takt_stream_connection_refused(stream, stream->connection.writer, reply);
        return;
    }
    memcpy(stream->takeover.from, reply[1].text, reply[1].size + 1);
    take_all(stream, &reply[2]);
}

static void walk(takt_stream *stream)
{
    char idle[24];

    takt_stream_command_begin(stream, "XAUTOCLAIM", stream->names.key, stream->names.group,
                              stream->names.consumer, idle_of(stream, idle), stream->takeover.from,
                              "COUNT", WALK, "JUSTID", NULL);
    stream->takeover.under_way =
        takt_stream_command_send(stream, stream->connection.writer, on_walked, none);
}

/* ---- what a dead one has left ---------------------------------------------------------------- */

/* [ID ...] */
static void on_claimed(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream *stream = call->stream;

    (void)code;
    if (!is_answer(stream, reply))
        return;
    take_all(stream, reply);
    if (++stream->takeover.rounds < ROUNDS_MAX && stream->read.want > (unsigned)reply->count)
        take_from(stream);
}

/* Adds the entries of [[ID, CONSUMER, IDLE, COUNT] ...] to the command; stops at a row of another
 * form. */
static void add_entries(takt_stream *stream, const takt_reply *rows, int max)
{
    takt_job_ref ref;

    for (int i = 0; i < rows->count && i < max && rows[1 + i * 5].count == 4; i++)
        if (takt_stream_names_read_entry(&rows[2 + i * 5], &ref))
            takt_stream_command_entry(stream, ref);
}

static void on_listed(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream *stream = call->stream;
    char idle[24];

    (void)code;
    if (!is_answer(stream, reply))
        return;
    if (reply->count == 0) {
        walk(stream);
        return;
    }
    takt_stream_command_begin(stream, "XCLAIM", stream->names.key, stream->names.group,
                              stream->names.consumer, idle_of(stream, idle), NULL);
    add_entries(stream, reply, TAKE_MAX);
    takt_stream_command_add(stream, "JUSTID", 6);
    stream->takeover.under_way =
        takt_stream_command_send(stream, stream->connection.writer, on_claimed, none);
}

static void take_from(takt_stream *stream)
{
    unsigned wanted = stream->read.want < TAKE_MAX ? stream->read.want : TAKE_MAX;
    char idle[24], count[12];

    snprintf(count, sizeof count, "%u", wanted);
    takt_stream_command_begin(stream, "XPENDING", stream->names.key, stream->names.group, "IDLE",
                              idle_of(stream, idle), "-", "+", count, stream->takeover.left_by,
                              NULL);
    stream->takeover.under_way =
        takt_stream_command_send(stream, stream->connection.writer, on_listed, none);
}

/* ---- a name that nothing is left of ---------------------------------------------------------- */

/*
 * A consumer of a killed worker is removed when it has no entries, so that the group's list of
 * consumers does not grow for ever. Removing a consumer drops its entries. A consumer may wake up
 * between the look and the removal and get jobs, so the same transaction lists its entries, and
 * they are given back. If the worker lives, its next read creates the consumer again.
 */

/* Nothing to do about a failure: the next worker that looks tries again. */
static void on_said(takt_stream_call *call, const takt_reply *reply, int code)
{
    (void)call;
    (void)reply;
    (void)code;
}

/* Gives back entries whose consumer has gone: [[ID, CONSUMER, IDLE, COUNT] ...] */
static void give_back(takt_stream *stream, const takt_reply *rows)
{
    takt_stream_command_begin(stream, "XCLAIM", stream->names.key, stream->names.group,
                              TAKT_STREAM_NOBODY, "0", NULL);
    add_entries(stream, rows, PAGE_SIZE);
    takt_stream_command_add(stream, "FORCE", 5);
    takt_stream_command_add(stream, "JUSTID", 6);
    (void)takt_stream_command_send(stream, stream->connection.writer, on_said, none);
}

/* [[[ID, CONSUMER, IDLE, COUNT] ...], PENDING] */
static void on_removed(takt_stream_call *call, const takt_reply *reply, int code)
{
    (void)code;
    if (reply != NULL && reply->type == TAKT_REPLY_ARRAY && reply->count == 2 &&
        reply[1].type == TAKT_REPLY_ARRAY && reply[1].count > 0)
        give_back(call->stream, &reply[1]);
}

static void forget(takt_stream *stream, const char *consumer)
{
    takt_stream_command_begin(stream, "MULTI", NULL);
    if (!takt_stream_command_send(stream, stream->connection.writer, on_said, none))
        return;
    takt_stream_command_begin(stream, "XPENDING", stream->names.key, stream->names.group, "-", "+",
                              PAGE, consumer, NULL);
    (void)takt_stream_command_send(stream, stream->connection.writer, on_said, none);
    takt_stream_command_begin(stream, "XGROUP", "DELCONSUMER", stream->names.key,
                              stream->names.group, consumer, NULL);
    (void)takt_stream_command_send(stream, stream->connection.writer, on_said, none);
    takt_stream_command_begin(stream, "EXEC", NULL);
    (void)takt_stream_command_send(stream, stream->connection.writer, on_removed, none);
}

/* ---- who has left something ------------------------------------------------------------------ */

typedef struct consumer {
    const char *name;
    size_t name_size;
    int64_t pending, idle_us;
} consumer;

/* [NAME, VALUE ...] */
static consumer read_consumer(const takt_reply *reply)
{
    consumer read = {0};

    for (int i = 1; i + 1 <= reply->count; i += 2) {
        const takt_reply *value = &reply[i + 1];
        if (reply[i].type != TAKT_REPLY_STRING)
            continue;
        if (strcmp(reply[i].text, "name") == 0) {
            read.name = value->text;
            read.name_size = value->size;
        } else if (strcmp(reply[i].text, "pending") == 0) {
            read.pending = value->integer;
        } else if (strcmp(reply[i].text, "idle") == 0 && value->integer >= 0) {
            read.idle_us = value->integer < IDLE_MAX_MS ? value->integer * 1000 : INT64_MAX;
        }
    }
    return read;
}

/* Whether the consumer has entries and was silent for too long. */
static bool has_left(const takt_stream *stream, const consumer *consumer)
{
    return consumer->pending > 0 && (consumer->idle_us >= stream->idle_us ||
                                     strcmp(consumer->name, TAKT_STREAM_NOBODY) == 0);
}

/* Whether the consumer has no entries and was silent for so long that it is dead. */
static bool is_gone(const takt_stream *stream, const consumer *consumer)
{
    return consumer->pending == 0 && consumer->idle_us / GONE_AFTER >= stream->idle_us;
}

static void on_consumers(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream *stream = call->stream;
    const takt_reply *next;
    bool forgets = false;

    (void)code;
    if (!is_answer(stream, reply))
        return;
    next = reply + 1;
    for (int left = reply->count; left > 0; left--, next = takt_reply_after(next)) {
        consumer consumer = read_consumer(next);
        if (consumer.name == NULL || consumer.name_size > TAKT_STREAM_NAME_MAX ||
            strlen(consumer.name) != consumer.name_size ||
            strcmp(consumer.name, stream->names.consumer) == 0)
            continue;
        if (has_left(stream, &consumer)) {
            memcpy(stream->takeover.left_by, consumer.name, consumer.name_size + 1);
            take_from(stream);
            return;
        }
        if (!forgets && is_gone(stream, &consumer)) { /* one at a time */
            forgets = true;
            forget(stream, consumer.name);
        }
    }
    walk(stream);
}

void takt_stream_takeover_look(takt_stream *stream)
{
    stream->takeover.rounds = 0;
    if (stream->takeover.under_way || stream->read.want == 0 || stream->read.ended)
        return;
    takt_stream_command_begin(stream, "XINFO", "CONSUMERS", stream->names.key, stream->names.group,
                              NULL);
    stream->takeover.under_way =
        takt_stream_command_send(stream, stream->connection.writer, on_consumers, none);
}
