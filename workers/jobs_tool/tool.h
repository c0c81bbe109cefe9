/*
 * tool.h: what the parts of `takt-jobs` share: a server that is asked one thing after the other, a
 * stream's keys, and messages.
 */
#ifndef TAKT_WORKERS_TOOL_H
#define TAKT_WORKERS_TOOL_H

#include <stdbool.h>
#include <stdio.h>

#include "redis/client.h"
#include <uv.h>

#include "jobs/stream/names.h"
#include "kit/message.h"

#define TOOL_WORDS_MAX 16

typedef struct takt_tool {
    /* the command line */
    const char *stream, *url, *group, *input;
    uint64_t from_line; /* add: 1, or the first line that is not passed over */
    bool json, all;
    char **entries; /* retry: those that are meant */
    int entry_count;

    char key[TAKT_STREAM_KEY_SIZE], dead_key[TAKT_STREAM_KEY_SIZE];
    uv_loop_t loop;
    takt_redis *redis;
    bool lost; /* told of, once */
} takt_tool;

/* Connects, and waits until that is done: 0, or the exit status after a message. */
int takt_tool_open(takt_tool *tool);
void takt_tool_close(takt_tool *tool);

/* Runs the loop once; false where the connection was lost, as a message has told. */
bool takt_tool_turn(takt_tool *tool);

/* An answer, which lives during the call. */
typedef void takt_tool_reader(void *data, const takt_reply *reply);

/*
 * Asks with words up to NULL and waits for the answer.  0; 1 where there is no such stream or group
 * (then `reader` is not called); or -1 after a message.
 */
int takt_tool_ask(takt_tool *tool, takt_tool_reader *reader, void *data, ...)
    __attribute__((sentinel));

/* The same with so many words of those sizes. */
int takt_tool_ask_with(takt_tool *tool, takt_tool_reader *reader, void *data, int count,
                       const char *const *words, const size_t *sizes);

/* What an error reply means, as a message. */
void takt_tool_refused(takt_tool *tool, const takt_reply *reply);

/* The commands: their exit status. */
int takt_tool_add(takt_tool *tool);
int takt_tool_show(takt_tool *tool);
int takt_tool_dead(takt_tool *tool);
int takt_tool_retry(takt_tool *tool);

/* A dead letter as it is read from the stream. */
typedef struct takt_tool_letter {
    char letter[TAKT_STREAM_ENTRY_SIZE];      /* its own place among the dead letters */
    const takt_reply *job, *id, *entry, *why; /* NULL: not there */
} takt_tool_letter;

/* [ID, [FIELD, VALUE ...]]; false where it is something else. */
bool takt_tool_read_letter(const takt_reply *entry, takt_tool_letter *letter);

#endif
