/*
 * words.h: reads the words of a command one after the other. The first invalid word gets an error
 * that says what to write; after it all functions do nothing.
 */
#ifndef TAKT_AGENT_WORDS_H
#define TAKT_AGENT_WORDS_H

#include "agent.h"

typedef struct takt_agent_words {
    takt_agent_connection *connection;
    const takt_reply *at, *end;
    const char *command; /* the first word, for messages */
    bool wrong;          /* the error was written */
} takt_agent_words;

/* Passes over the command itself. */
void takt_agent_words_begin(takt_agent_words *words, takt_agent_connection *connection,
                            const takt_reply *first, int count);

/* Whether another word is there. */
bool takt_agent_words_left(const takt_agent_words *words);

/* Whether the next word is that option, in any case; then passes over it. */
bool takt_agent_words_are(takt_agent_words *words, const char *option);

/* The next word; `what` is missing otherwise: "a tag". It has no NUL and at most `max` bytes. */
const char *takt_agent_words_text(takt_agent_words *words, const char *what, size_t max);

int64_t takt_agent_words_number(takt_agent_words *words, const char *what, int64_t min,
                                int64_t max);

/* Milliseconds, or a duration with its unit: microseconds. */
int64_t takt_agent_words_duration(takt_agent_words *words, const char *what);

/* LIMIT[:KEY]: *limit is in `name`; *key NULL: none. */
void takt_agent_words_target(takt_agent_words *words, char name[TAKT_NAME_SIZE_MAX + 1],
                             const char **key);

/* [UNIT] N after COST. Unit NULL: none was given. */
void takt_agent_words_amount(takt_agent_words *words, takt_amount *amount, int64_t min,
                             int64_t max);

/* Writes the error. */
void takt_agent_words_refuse(takt_agent_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The next word is none of the command's options; or, at the end, all were read. Whether the
 * command can be done. */
bool takt_agent_words_end(takt_agent_words *words, const char *options);

#endif
