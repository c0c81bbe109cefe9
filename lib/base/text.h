/*
 * Writing and reading the short texts that ledgers are kept as: whole numbers and single
 * characters, nothing locale-dependent, nothing allocated.  Both sides note trouble and go on, so
 * that a caller asks once, at the end.
 */
#ifndef TAKT_BASE_TEXT_H
#define TAKT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct takt_writer {
    char *at, *end; /* the caller's buffer: next byte, and one past the last */
    bool full;      /* something did not fit: the text is not to be used */
} takt_writer;

void takt_write_char(takt_writer *writer, char c);
void takt_write_text(takt_writer *writer, const char *text);
void takt_write_int(takt_writer *writer, int64_t value);
void takt_write_hex(takt_writer *writer, uint64_t value);

typedef struct takt_reader {
    const char *at, *end; /* next byte, and one past the last */
    bool bad;             /* something was not as expected: what was read is not to be used */
} takt_reader;

/* Passes over `c` if it comes next. */
bool takt_read_if(takt_reader *reader, char c);

/* Passes over `c`; bad if something else comes. */
void takt_read_char(takt_reader *reader, char c);
void takt_read_text(takt_reader *reader, const char *text);

/* A whole number from min to max in plain decimal digits ("-" before it if min allows); else bad
 * and `min`. */
int64_t takt_read_int(takt_reader *reader, int64_t min, int64_t max);

/* 1 to 16 lower-case hexadecimal digits. */
uint64_t takt_read_hex(takt_reader *reader);

/* True if everything was read and nothing was bad. */
bool takt_read_done(const takt_reader *reader);

#endif
