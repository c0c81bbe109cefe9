/*
 * forget.c: the name of a worker that was killed goes when nothing is left of it, so that
 * the group's list does not grow with every worker that ever died.
 *
 * Whoever has a name removed loses what it has.  One that wakes up between our look and the removal
 * may have been given jobs: so the same transaction tells what it has, and that is given back.  If
 * it lives it has a name again as soon as it reads.
 */
#include <string.h>

#include "stream.h"

#define PAGE      "500" /* more than one read brings, and not more than STREAM_WORDS_MAX */
#define PAGE_SIZE 500

static const source_ref none = {0, 0};

/* Nothing that can be done about it: the next worker that looks tries again. */
static void on_said(saying *saying, const takt_reply *reply, int code)
{
    (void)saying;
    (void)reply;
    (void)code;
}

/* What is in nobody's hands any more: [[ID, CONSUMER, IDLE, COUNT] ...] */
static void give_back(stream *stream, const takt_reply *rows)
{
    source_ref ref;

    stream_words_begin(stream, "XCLAIM", stream->key, stream->group, STREAM_NOBODY, "0", NULL);
    for (int i = 0; i < rows->count && i < PAGE_SIZE; i++)
        if (stream_read_entry(&rows[2 + i * 5], &ref))
            stream_words_entry(stream, ref);
    stream_words_add(stream, "FORCE", 5);
    stream_words_add(stream, "JUSTID", 6);
    (void)stream_say(stream, stream->writer, on_said, none);
}

/* [[[ID, CONSUMER, IDLE, COUNT] ...], PENDING] */
static void on_removed(saying *saying, const takt_reply *reply, int code)
{
    (void)code;
    if (reply != NULL && reply->type == TAKT_REPLY_ARRAY && reply->count == 2 &&
        reply[1].type == TAKT_REPLY_ARRAY && reply[1].count > 0)
        give_back(saying->stream, &reply[1]);
}

void stream_forget(stream *stream, const char *consumer)
{
    stream_words_begin(stream, "MULTI", NULL);
    if (!stream_say(stream, stream->writer, on_said, none))
        return;
    stream_words_begin(stream, "XPENDING", stream->key, stream->group, "-", "+", PAGE, consumer,
                       NULL);
    (void)stream_say(stream, stream->writer, on_said, none);
    stream_words_begin(stream, "XGROUP", "DELCONSUMER", stream->key, stream->group, consumer, NULL);
    (void)stream_say(stream, stream->writer, on_said, none);
    stream_words_begin(stream, "EXEC", NULL);
    (void)stream_say(stream, stream->writer, on_removed, none);
}
