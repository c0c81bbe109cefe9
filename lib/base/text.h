/*
 * text.h: writes and reads the short texts of ledgers: whole numbers and single characters, without
 * locale and without allocation. Writer and reader note an error and continue, so a caller checks
 * once, at the end. The callers define the formats.
 */
#ifndef TAKT_BASE_TEXT_H
#define TAKT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct takt_writer {
    char *at, *end; /* the caller's buffer: next byte, and one past the last */
    bool full;      /* the text did not fit and must not be used */
} takt_writer;

void takt_write_char(takt_writer *writer, char c);
void takt_write_text(takt_writer *writer, const char *text);
void takt_write_int(takt_writer *writer, int64_t value);
void takt_write_hex(takt_writer *writer, uint64_t value);

typedef struct takt_reader {
    const char *at, *end; /* next byte, and one past the last */
    bool bad;             /* the text is malformed: the values read must not be used */
} takt_reader;

/* Skips `c` and returns true if `c` is next. */
bool takt_read_if(takt_reader *reader, char c);

/* Skips `c`. Sets bad if another character is next. */
void takt_read_char(takt_reader *reader, char c);
void takt_read_text(takt_reader *reader, const char *text);

/* Reads a whole number from min to max in decimal digits, with "-" if min is negative. Otherwise
 * sets bad and returns `min`. */
int64_t takt_read_int(takt_reader *reader, int64_t min, int64_t max);

/* Reads 1 to 16 lower-case hexadecimal digits. */
uint64_t takt_read_hex(takt_reader *reader);

/* True if the whole text was read without an error. */
bool takt_read_done(const takt_reader *reader);

#endif
