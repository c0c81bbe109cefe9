/*
 * state_file.h: records how the lines of a file ended, so that a new run continues where the last
 * one stopped, for whatever reason.
 *
 *     {"takt":"state","version":1}
 *     {"line":17,"sum":"90b2d1","status":"begun","attempts":1}
 *     {"line":17,"sum":"90b2d1","status":"done"}
 *
 * The sum of the line's bytes shows whether the file was changed. The last record of a line counts.
 */
#ifndef TAKT_WORKERS_SOURCES_STATE_FILE_H
#define TAKT_WORKERS_SOURCES_STATE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <takt/error.h>

#include "append.h"

typedef enum takt_line_status {
    TAKT_LINE_NEW,
    TAKT_LINE_TRIED, /* failed `attempts` times, not ended */
    TAKT_LINE_DONE,
    TAKT_LINE_DEAD
} takt_line_status;

/* The last record of one line. */
typedef struct takt_state_line {
    uint64_t line;
    uint32_t order;  /* position among the records */
    uint32_t record; /* the sum, with the status in the low byte */
} takt_state_line;

typedef struct takt_state_file {
    takt_append file;
    takt_state_line *lines; /* lines with a record of an earlier run, by number */
    size_t count, capacity;
} takt_state_file;

/* Opens or creates the file and locks it for this worker. */
int takt_state_file_open(takt_state_file *state, const char *path, const char *input,
                         takt_error *error);
void takt_state_file_close(takt_state_file *state);

/* A sum of 24 bits. */
uint32_t takt_state_file_sum(const char *text, size_t size);

/* The status of a line; *sum is its recorded sum. */
takt_line_status takt_state_file_get(const takt_state_file *state, uint64_t line, uint32_t *sum,
                                     unsigned *attempts);

/* The last line that has a record. */
uint64_t takt_state_file_last(const takt_state_file *state);

/* `status`: "begun" or "tried", for the `attempts`-th time; "done", "dead". False: no memory. */
bool takt_state_file_put(takt_state_file *state, uint64_t line, uint32_t sum, const char *status,
                         unsigned attempts);

#endif
