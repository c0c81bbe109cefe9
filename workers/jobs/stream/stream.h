/*
 * stream.h: the source "stream" from the inside. The lower files first:
 *
 * command.c sends commands; connection.c has the two connections; end.c begins and ends entries;
 * read.c reads entries; survey.c keeps entries owned by this worker; takeover.c takes over entries
 * of dead workers; stream.c implements source.h. The part of the struct that belongs to a file
 * stands with the file's functions.
 *
 * If a connection is lost, both are made again, and a survey follows: it compares the server's list
 * of our entries with the table of held entries (held.h), sends missing changes again and reads
 * missing entries. Then the work continues.
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

/* Called with the answer, or with NULL and the code of the failure. The call is freed
 * afterwards. */
typedef void takt_stream_then(takt_stream_call *call, const takt_reply *reply, int code);

struct takt_stream_call {
    takt_redis_command command;
    takt_stream *stream;
    takt_redis *to;
    takt_job_ref ref;
    takt_stream_then *then;
};

/* Builds a command: first the arguments up to NULL, then further ones and entries. */
void takt_stream_command_begin(takt_stream *stream, ...) __attribute__((sentinel));
void takt_stream_command_add(takt_stream *stream, const char *argument, size_t size);
void takt_stream_command_entry(takt_stream *stream, takt_job_ref ref);

/* Sends the command. False: it cannot be sent, and then() is not called. */
bool takt_stream_command_send(takt_stream *stream, takt_redis *to, takt_stream_then *then,
                              takt_job_ref ref);

/* ---- connection.c ---------------------------------------------------------------------------- */

typedef struct takt_stream_connection_events {
    void (*ready)(takt_stream *stream); /* both connections are ready, after each connect */
    void (*closed)(void *stream);       /* one is closed, also if the stream was never opened */
} takt_stream_connection_events;

typedef struct takt_stream_connection {
    takt_redis *reader, *writer;
    void (*ready)(takt_stream *stream);
    bool told_failed; /* the failure was reported, and the recovery was not */
    bool parted;      /* this worker is closing a connection itself */
    bool too_large;   /* a reply was too large: that of the command answered next */
} takt_stream_connection;

/* 0, or a code; closed() is then still called if stream->connection.reader is set. */
int takt_stream_connection_open(takt_stream *stream, const char *url,
                                const takt_stream_connection_events *events, takt_error *error);

/* An unexpected error reply: closes both connections and starts again with a survey. */
void takt_stream_connection_refused(takt_stream *stream, takt_redis *by, const takt_reply *reply);

/* Whether the reply is an error that begins with that word. */
bool takt_stream_connection_is_error(const takt_reply *reply, const char *word);

/* ---- end.c ----------------------------------------------------------------------------------- */

typedef struct takt_stream_letter takt_stream_letter; /* a dead letter that is not confirmed yet */

typedef struct takt_stream_ends {
    takt_stream_queue begun, done, back;
    takt_stream_letter *letters;
    unsigned under_way; /* commands under way that end entries */
} takt_stream_ends;

void takt_stream_end_say(takt_stream *stream); /* sends queued changes */
/* sends all changes in the table, after a survey */
void takt_stream_end_say_all(takt_stream *stream);
void takt_stream_end_free(takt_stream_ends *ends);

/* Marks the entry as ended in that way. */
void takt_stream_end_mark(takt_stream *stream, takt_job_ref ref, takt_stream_held_state state);
void takt_stream_end_note_letter(takt_stream *stream, takt_job_ref ref, const char *text,
                                 size_t size, const char *id, const char *why);
void takt_stream_end_note_begun(takt_stream *stream, takt_job_ref ref, unsigned attempts);

/* ---- read.c ---------------------------------------------------------------------------------- */

typedef struct takt_stream_reading {
    unsigned want;
    unsigned at_once; /* entries per read at most */
    bool under_way;   /* a blocking command is under way */
    bool ended;
    takt_stream_queue missing; /* texts that were asked for and belong to another worker now */
} takt_stream_reading;

void takt_stream_read_on(takt_stream *stream); /* if there is room */

/* Reads an entry that belongs to this worker and is not in the table yet. */
void takt_stream_read_taken(takt_stream *stream, takt_job_ref ref);

/* Reads the text of an entry again. */
void takt_stream_read_again(takt_stream *stream, takt_stream_held_row *row);

/* ---- survey.c -------------------------------------------------------------------------------- */

typedef struct takt_stream_survey {
    uint32_t number; /* of the last or present survey */
    bool under_way;
    uint64_t last_ms; /* when the last finished survey began */
    uint64_t began_ms;
    bool held_up; /* no job may start, and the worker must be told when jobs may start again */
} takt_stream_survey;

void takt_stream_survey_join(takt_stream *stream); /* creates the group, then surveys */
void takt_stream_survey_start(takt_stream *stream);

/* Whether the last survey is so old that other workers may have taken over the entries. */
bool takt_stream_survey_is_stale(const takt_stream *stream);

/* ---- takeover.c ------------------------------------------------------------------------------ */

typedef struct takt_stream_takeover {
    char from[TAKT_STREAM_ENTRY_SIZE];      /* the start of the next look */
    bool under_way;                         /* a command of this part */
    unsigned rounds;                        /* since the last tick */
    char left_by[TAKT_STREAM_NAME_MAX + 1]; /* a consumer that has left entries; "" */
} takt_stream_takeover;

/* looks for entries of dead workers; on each tick */
void takt_stream_takeover_look(takt_stream *stream);

/* ---- all of it ------------------------------------------------------------------------------- */

typedef enum takt_stream_phase {
    TAKT_STREAM_AWAY,  /* not both connections are ready */
    TAKT_STREAM_JOINS, /* the group is being created */
    TAKT_STREAM_LOOKS, /* the first survey runs */
    TAKT_STREAM_WORKS
} takt_stream_phase;

typedef struct takt_stream_identity {
    char key[TAKT_STREAM_KEY_SIZE], dead_key[TAKT_STREAM_KEY_SIZE];
    char group[TAKT_STREAM_NAME_MAX + 1], consumer[TAKT_STREAM_NAME_MAX + 1];
} takt_stream_identity;

typedef struct takt_stream_closing {
    bool parting; /* all has ended: the consumer is being removed */
    uint64_t by_ms;
    int left; /* handles to close: the timer, the connections */
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
    bool worked; /* it has worked before */
    bool closing;
    takt_stream_held held;
    takt_stream_command command;           /* the command being built */
    void (*answered)(takt_stream *stream); /* called after each answer */
    uv_timer_t tick;

    takt_stream_connection connection;
    takt_stream_ends ends;
    takt_stream_reading read;
    takt_stream_survey survey;
    takt_stream_takeover takeover;
    takt_stream_closing close;
};

#endif
