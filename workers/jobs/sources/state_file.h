/*
 * state_file.h: what became of a file's lines, kept beside it, so that a rerun goes on where this
 * run has ended, whatever ended it.
 *
 *     {"takt":"state","version":1}
 *     {"line":17,"sum":"90b2d1","status":"begun","attempts":1}
 *     {"line":17,"sum":"90b2d1","status":"done"}
 *
 * The sum is of the line's bytes: a file that was changed is noticed.  Of a line's records the last
 * one holds.
 */
#ifndef TAKT_WORKERS_SOURCES_STATE_FILE_H
#define TAKT_WORKERS_SOURCES_STATE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <takt/error.h>

#include "append.h"

typedef enum takt_line_status {
    TAKT_LINE_NEW,
    TAKT_LINE_TRIED, /* so many times, and not ended */
    TAKT_LINE_DONE,
    TAKT_LINE_DEAD
} takt_line_status;

/* The last record of one line. */
typedef struct takt_state_line {
    uint64_t line;
    uint32_t order;  /* of the records */
    uint32_t record; /* the sum, and in the low byte how the line stands */
} takt_state_line;

typedef struct takt_state_file {
    takt_append file;
    takt_state_line *lines; /* those that have a record, by number; of earlier runs alone */
    size_t count, capacity;
} takt_state_file;

/* Opens it or begins it, and locks it: one worker at a time. */
int takt_state_file_open(takt_state_file *state, const char *path, const char *input,
                         takt_error *error);
void takt_state_file_close(takt_state_file *state);

/* 24 bits. */
uint32_t takt_state_file_sum(const char *text, size_t size);

/* How a line stands; *sum is what it had then. */
takt_line_status takt_state_file_get(const takt_state_file *state, uint64_t line, uint32_t *sum,
                                     unsigned *attempts);

/* The last line that is known of. */
uint64_t takt_state_file_last(const takt_state_file *state);

/* `status`: "begun" or "tried", so many times by now; "done", "dead".  False: no memory. */
bool takt_state_file_put(takt_state_file *state, uint64_t line, uint32_t sum, const char *status,
                         unsigned attempts);

#endif
