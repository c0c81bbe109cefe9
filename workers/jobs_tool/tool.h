/*
 * tool.h: what the parts of `takt-jobs` share: commands to the server one after the other, a
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
    uint64_t from_line; /* add: the first line to read, from 1 */
    bool json, all;
    char **entries; /* retry: the entries to put back */
    int entry_count;

    char key[TAKT_STREAM_KEY_SIZE], dead_key[TAKT_STREAM_KEY_SIZE];
    uv_loop_t loop;
    takt_redis *redis;
    bool lost; /* the lost connection was reported */
} takt_tool;

/* Connects and waits for the result: 0, or the exit status after a message. */
int takt_tool_open(takt_tool *tool);
void takt_tool_close(takt_tool *tool);

/* Runs the loop once. False: the connection was lost, and a message was printed. */
bool takt_tool_turn(takt_tool *tool);

/* Reads an answer, which is valid during the call. */
typedef void takt_tool_reader(void *data, const takt_reply *reply);

/*
 * Sends a command, its words up to NULL, and waits for the answer. 0; 1: no such stream or group
 * (`reader` is not called); -1 after a message.
 */
int takt_tool_ask(takt_tool *tool, takt_tool_reader *reader, void *data, ...)
    __attribute__((sentinel));

/* The same with `count` words of the given sizes. */
int takt_tool_ask_with(takt_tool *tool, takt_tool_reader *reader, void *data, int count,
                       const char *const *words, const size_t *sizes);

/* Prints the meaning of an error reply. */
void takt_tool_refused(takt_tool *tool, const takt_reply *reply);

/* The commands; they return their exit status. */
int takt_tool_add(takt_tool *tool);
int takt_tool_show(takt_tool *tool);
int takt_tool_dead(takt_tool *tool);
int takt_tool_retry(takt_tool *tool);

/* A dead letter as read from the stream. */
typedef struct takt_tool_letter {
    char letter[TAKT_STREAM_ENTRY_SIZE];      /* its own entry among the dead letters */
    const takt_reply *job, *id, *entry, *why; /* NULL: missing */
} takt_tool_letter;

/* Reads [ID, [FIELD, VALUE ...]]. False: the reply has another form. */
bool takt_tool_read_letter(const takt_reply *entry, takt_tool_letter *letter);

#endif
