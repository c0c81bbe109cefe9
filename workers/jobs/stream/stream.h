/*
 * stream.h: the source "stream" as its own files see it, the lower ones first:
 *
 * command.c sends commands; connection.c has the two connections; end.c says how entries begin and
 * end; read.c takes entries in; survey.c keeps them ours; takeover.c takes over what others have
 * left; stream.c is what source.h asks for.  Each one's part of the struct stands with its
 * functions.
 *
 * When a connection is lost both are made anew, and a survey follows: what the server has for us is
 * compared with the table of what we hold (held.h), and whatever differs is said again or taken in.
 * Then work goes on.
 */
#ifndef TAKT_WORKERS_STREAM_H
#define TAKT_WORKERS_STREAM_H

#include "redis/client.h"

#include "held.h"
#include "names.h"
#include "queue.h"

typedef struct takt_stream takt_stream;

/* ---- command.c ------------------------------------------------------------------------------- */

#define TAKT_STREAM_COMMAND_MAX 512 /* entries that one command names */

/* A command being put together. */
typedef struct takt_stream_command {
    int count;
    const char *arguments[TAKT_STREAM_COMMAND_MAX + 16];
    size_t sizes[TAKT_STREAM_COMMAND_MAX + 16];
    char entries[TAKT_STREAM_COMMAND_MAX + 1][TAKT_STREAM_ENTRY_SIZE];
    int entry_count;
} takt_stream_command;

/* A command under way. */
typedef struct takt_stream_call takt_stream_call;

/* Its answer, or NULL and why there is none.  The call is freed afterwards. */
typedef void takt_stream_then(takt_stream_call *call, const takt_reply *reply, int code);

struct takt_stream_call {
    takt_redis_command command;
    takt_stream *stream;
    takt_redis *to;
    takt_job_ref ref;
    takt_stream_then *then;
};

/* Puts a command together: as many arguments as are given up to NULL; then others, and entries. */
void takt_stream_command_begin(takt_stream *stream, ...) __attribute__((sentinel));
void takt_stream_command_add(takt_stream *stream, const char *argument, size_t size);
void takt_stream_command_entry(takt_stream *stream, takt_job_ref ref);

/* Sends the command that was put together.  False: it cannot be sent, then() is not called. */
bool takt_stream_command_send(takt_stream *stream, takt_redis *to, takt_stream_then *then,
                              takt_job_ref ref);

/* ---- connection.c ---------------------------------------------------------------------------- */

typedef struct takt_stream_connection_events {
    void (*ready)(takt_stream *stream); /* both are, again and again */
    void (*closed)(void *stream);       /* of one, also where the stream was never opened */
} takt_stream_connection_events;

typedef struct takt_stream_connection {
    takt_redis *reader, *writer;
    void (*ready)(takt_stream *stream);
    bool told_failed; /* and not yet that it goes on */
    bool parted;      /* a connection is being left by ourselves */
    bool too_large;   /* the connection was lost for a reply: that of the command answered next */
} takt_stream_connection;

/* 0, or a code; then closed() is still called if stream->connection.reader is there. */
int takt_stream_connection_open(takt_stream *stream, const char *url,
                                const takt_stream_connection_events *events, takt_error *error);

/* An error that was not expected: both connections are left, and all begins anew with a survey. */
void takt_stream_connection_refused(takt_stream *stream, takt_redis *by, const takt_reply *reply);

/* Whether the reply is an error that begins with that word. */
bool takt_stream_connection_is_error(const takt_reply *reply, const char *word);

/* ---- end.c ----------------------------------------------------------------------------------- */

typedef struct takt_stream_letter takt_stream_letter; /* a dead letter that is not confirmed yet */

typedef struct takt_stream_ends {
    takt_stream_queue begun, done, back;
    takt_stream_letter *letters;
    unsigned under_way; /* commands that end entries */
} takt_stream_ends;

void takt_stream_end_say(takt_stream *stream);     /* what was queued */
void takt_stream_end_say_all(takt_stream *stream); /* all that the table tells: after a survey */
void takt_stream_end_free(takt_stream_ends *ends);

/* The entry ends in that way. */
void takt_stream_end_mark(takt_stream *stream, takt_job_ref ref, takt_stream_held_state state);
void takt_stream_end_note_letter(takt_stream *stream, takt_job_ref ref, const char *text,
                                 size_t size, const char *id, const char *why);
void takt_stream_end_note_begun(takt_stream *stream, takt_job_ref ref, unsigned attempts);

/* ---- read.c ---------------------------------------------------------------------------------- */

typedef struct takt_stream_reading {
    unsigned want;
    unsigned at_once; /* entries that are read at a time at most */
    bool under_way;   /* a command that blocks */
    bool ended;
    takt_stream_queue missing; /* texts that were asked for and are not ours any more */
} takt_stream_reading;

void takt_stream_read_on(takt_stream *stream); /* where there is room */

/* What is ours by now, and not here yet. */
void takt_stream_read_taken(takt_stream *stream, takt_job_ref ref);

/* A text that was here before. */
void takt_stream_read_again(takt_stream *stream, takt_stream_held_row *row);

/* ---- survey.c -------------------------------------------------------------------------------- */

typedef struct takt_stream_survey {
    uint32_t number; /* of the last one, or of that under way */
    bool under_way;
    uint64_t last_ms; /* when the last one that was ended has begun */
    uint64_t began_ms;
    bool held_up; /* nothing is started, and who starts is to be told when it can */
} takt_stream_survey;

void takt_stream_survey_join(takt_stream *stream); /* the group is made, and surveyed */
void takt_stream_survey_start(takt_stream *stream);

/* Whether nobody has heard of us for so long that all may be others'. */
bool takt_stream_survey_is_stale(const takt_stream *stream);

/* ---- takeover.c ------------------------------------------------------------------------------ */

typedef struct takt_stream_takeover {
    char from[TAKT_STREAM_ENTRY_SIZE];      /* where to go on looking */
    bool under_way;                         /* a command of that */
    unsigned rounds;                        /* since the last tick */
    char left_by[TAKT_STREAM_NAME_MAX + 1]; /* a consumer that has left something; "" */
} takt_stream_takeover;

void takt_stream_takeover_look(takt_stream *stream); /* for what others have left; on each tick */

/* ---- all of it ------------------------------------------------------------------------------- */

typedef enum takt_stream_phase {
    TAKT_STREAM_AWAY,  /* not both connections are there */
    TAKT_STREAM_JOINS, /* the group is made */
    TAKT_STREAM_LOOKS, /* the first survey */
    TAKT_STREAM_WORKS
} takt_stream_phase;

typedef struct takt_stream_identity {
    char key[TAKT_STREAM_KEY_SIZE], dead_key[TAKT_STREAM_KEY_SIZE];
    char group[TAKT_STREAM_NAME_MAX + 1], consumer[TAKT_STREAM_NAME_MAX + 1];
} takt_stream_identity;

typedef struct takt_stream_closing {
    bool parting; /* all has ended: the consumer is to go */
    uint64_t by_ms;
    int left; /* to be closed: the timer, the connections */
} takt_stream_closing;

struct takt_stream {
    takt_job_source source; /* first */
    uv_loop_t *loop;
    const takt_job_source_events *events;
    void *data;
    takt_stream_identity names;
    int64_t idle_us;
    bool until_empty;

    takt_stream_phase phase;
    bool worked; /* it has been at work already */
    bool closing;
    takt_stream_held held;
    takt_stream_command command;           /* the one being put together */
    void (*answered)(takt_stream *stream); /* behind each answer */
    uv_timer_t tick;

    takt_stream_connection connection;
    takt_stream_ends ends;
    takt_stream_reading read;
    takt_stream_survey survey;
    takt_stream_takeover takeover;
    takt_stream_closing close;
};

#endif
