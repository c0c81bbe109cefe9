/*
 * text_part.h: the parts of a ledger's text behind its rules (ledger_text.h): those that tell its
 * state, and the rows of its tables. The scripts have theirs in lua/ledger.lua and lua/records.lua.
 */
#ifndef TAKT_CORE_TEXT_PART_H
#define TAKT_CORE_TEXT_PART_H

#include "base/text.h"
#include "core/ledger.h"

/* A part has a letter, and functions that count how many of it a ledger has, and write and read one
 * behind its letter.  PARTS(PART) lists parts of these in their order. */

/* Writes all parts of a letter.  `text`: where the ledger's text begins. */
#define TAKT_WRITE_PART(letter, count, write, read)                                                \
    for (int i = 0, n = count(ledger); i < n; i++) {                                               \
        if (writer->at > text)                                                                     \
            takt_write_char(writer, ';');                                                          \
        takt_write_char(writer, letter);                                                           \
        write(writer, ledger, i);                                                                  \
    }

/* Reads the part of a letter, or all rows, with their separators.  Returns false at the end of the
 * text. */
#define TAKT_READ_PART(letter, count, write, read)                                                 \
    if (!reader->bad && takt_read_if(reader, letter)) {                                            \
        read(reader, ledger, kept);                                                                \
        if (!takt_read_if(reader, ';'))                                                            \
            return false;                                                                          \
    }
#define TAKT_READ_ROWS(letter, count, write, read)                                                 \
    while (!reader->bad && takt_read_if(reader, letter)) {                                         \
        read(reader, ledger, kept);                                                                \
        if (!takt_read_if(reader, ';'))                                                            \
            return false;                                                                          \
    }

/* First come the parts that tell the ledger's state, then the rows of its tables. */
void takt_text_write_states(takt_writer *writer, const char *text, const takt_ledger *ledger);
void takt_text_write_rows(takt_writer *writer, const char *text, const takt_ledger *ledger);

/* These read them into a ledger, and the numbers that the text tells into `kept`.  False: that was
 * the end of the text. */
bool takt_text_read_states(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept);
bool takt_text_read_rows(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept);

static inline void takt_write_number(takt_writer *writer, char before, int64_t value)
{
    takt_write_char(writer, before);
    takt_write_int(writer, value);
}

static inline int64_t takt_read_number(takt_reader *reader, int64_t min, int64_t max)
{
    takt_read_char(reader, ',');
    return takt_read_int(reader, min, max);
}

#endif
