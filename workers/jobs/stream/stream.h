/*
 * stream.h: the source "stream" as its own files see it.
 *
 * source.c opens and closes it and knows about connections; read.c takes entries in;
 * keep.c keeps them ours, takeover.c takes over what others have left,
 * forget.c removes their names; end.c says how they ended.
 *
 * There are two connections: one whose commands block, and one for all the rest.  When one of them
 * is lost both are made anew, and a survey follows: what the server has for us is compared with the
 * table of what we hold (held.h), and whatever differs is said again or taken in.  Then work
 * goes on.
 */
#ifndef TAKT_WORKERS_STREAM_H
#define TAKT_WORKERS_STREAM_H

#include <takt/redis.h>

#include "held.h"
#include "names.h"

#define STREAM_WORDS_MAX 512 /* entries that one command names */

typedef struct stream stream;
typedef struct saying saying;
typedef struct letter letter; /* a dead letter that is not confirmed yet (end.c) */

/* A command under way. */
struct saying {
    takt_redis_command command;
    stream *stream;
    takt_redis *to;
    source_ref ref;
    void (*then)(saying *saying, const takt_reply *reply, int code); /* it is freed afterwards */
};

typedef enum stream_phase {
    STREAM_AWAY,  /* not both connections are there */
    STREAM_JOINS, /* the group is made */
    STREAM_LOOKS, /* the first survey */
    STREAM_WORKS
} stream_phase;

/* References that are said in one of the next commands. */
typedef struct stream_queue {
    source_ref *refs;
    size_t count, room;
} stream_queue;

/* A command being put together. */
typedef struct stream_words {
    int count;
    const char *arguments[STREAM_WORDS_MAX + 16];
    size_t sizes[STREAM_WORDS_MAX + 16];
    char entries[STREAM_WORDS_MAX + 1][STREAM_ENTRY_SIZE];
    int entry_count;
} stream_words;

struct stream {
    source source; /* first */
    uv_loop_t *loop;
    const source_events *events;
    void *data;
    char key[STREAM_KEY_SIZE], dead_key[STREAM_KEY_SIZE];
    char group[STREAM_NAME_MAX + 1], consumer[STREAM_NAME_MAX + 1];
    int64_t idle_us;
    bool until_empty;

    takt_redis *reader, *writer;
    stream_phase phase;
    bool worked;      /* it has been at work already */
    bool told_failed; /* and not yet that it goes on */
    bool parted;      /* a connection is being left by ourselves */
    bool too_large;   /* the connection was lost for a reply: that of the command answered next */
    held held;
    stream_words words; /* of the command at hand */

    unsigned want;
    unsigned read_count; /* entries that are read at a time at most */
    bool reading;        /* a command that blocks is under way */
    bool ended;

    uint32_t survey; /* the number of the last one, or of that under way */
    bool surveying;
    uint64_t surveyed_ms; /* when the last one that was ended has begun */
    uint64_t survey_began_ms;
    char takeover[STREAM_ENTRY_SIZE];  /* where to go on looking for what others have left */
    bool taking_over;                  /* a command of that is under way */
    unsigned rounds;                   /* since the last tick */
    char left_by[STREAM_NAME_MAX + 1]; /* a consumer that has left something; "" */

    stream_queue begun, done, back;
    stream_queue missing; /* texts that were asked for and are not ours any more */
    bool held_up;         /* nothing is started, and who starts is to be told when it can */
    letter *letters;
    unsigned ending; /* commands under way that end entries */

    uv_timer_t tick;
    bool closing;
    bool parting; /* all has ended: the consumer is to go */
    uint64_t close_by_ms;
    int left; /* to be closed: the timer, the connections */
};

/* ---- command.c ---------------------------------------------------------------------------- */

/* Says the words at hand.  False: they cannot be said; then() is not called. */
bool stream_say(stream *stream, takt_redis *to,
                void (*then)(saying *saying, const takt_reply *reply, int code), source_ref ref);

/* Puts the words together: as many as are given up to NULL; then entries. */
void stream_words_begin(stream *stream, ...) __attribute__((sentinel));
void stream_words_add(stream *stream, const char *word, size_t size);
void stream_words_entry(stream *stream, source_ref ref);

bool stream_queue_add(stream_queue *queue, source_ref ref);

/* ---- source.c ------------------------------------------------------------------------- */

/* An error that was not expected: both connections are left, and all begins anew with a survey. */
void stream_refused(stream *stream, takt_redis *by, const takt_reply *reply);

/* A survey has ended; the first one after connecting leads to work. */
void stream_surveyed(stream *stream);

void stream_tick_soon(stream *stream); /* the next tick is at once */

/* ---- close.c -------------------------------------------------------------------------- */

void stream_close(source *source);
void stream_step_close(stream *stream);    /* closing goes on, if it has begun */
void stream_connection_closed(void *data); /* of one, also where the stream was never opened */

/* ---- read.c --------------------------------------------------------------------------- */

void stream_read(stream *stream);                 /* reads on, where there is room */
void stream_take(stream *stream, source_ref ref); /* what is ours by now, and not here yet */
void stream_fetch(stream *stream, held_row *row); /* a text that was here before */
bool stream_is_known(const stream *stream, source_ref ref);

/* ---- keep.c --------------------------------------------------------------------------- */

void stream_start_survey(stream *stream);
void stream_keep(stream *stream);           /* on each tick */
bool stream_is_stale(const stream *stream); /* not heard of for so long that all may be others' */

/* ---- takeover.c ----------------------------------------------------------------------- */

void stream_take_over(stream *stream); /* on each tick: looks for what others have left */

/* ---- forget.c ------------------------------------------------------------------------- */

void stream_forget(stream *stream, const char *consumer); /* one that is gone, with nothing */

/* ---- end.c ---------------------------------------------------------------------------- */

void stream_say_ends(stream *stream);     /* what was queued */
void stream_say_all_ends(stream *stream); /* all that the table tells: after a survey */
void stream_drop_letters(stream *stream);
void stream_mark(stream *stream, source_ref ref, held_state state); /* it ends in that way */
void stream_note_letter(stream *stream, source_ref ref, const char *text, size_t size,
                        const char *id, const char *why);
void stream_note_begun(stream *stream, source_ref ref, unsigned attempts);

#endif
