/*
 * numbers_text.h: how a ledger's text and the scripts' calls tell some numbers of a limit.
 */
#ifndef TAKT_CORE_NUMBERS_TEXT_H
#define TAKT_CORE_NUMBERS_TEXT_H

#include "base/text.h"
#include "core/numbers.h"

/* max_waiting and, in a letter, what becomes of more. */
void takt_numbers_write_bound(const takt_numbers *numbers, takt_writer *writer);

/* The letter of that way; none for refuse. */
void takt_when_full_write(takt_when_full way, takt_writer *writer);
takt_when_full takt_when_full_read(takt_reader *reader);

/* The numbers of `adapt`. */
void takt_adapt_write(const takt_adapt *adapt, takt_writer *writer);

#endif
