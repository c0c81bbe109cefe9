/*
 * Small texts for messages, from the library's base: quoted foreign text, UTF-8 characters,
 * spelling suggestions, durations for a person; and plurals.
 */
#ifndef TAKT_KIT_TEXT_H
#define TAKT_KIT_TEXT_H

#include "base/quote.h"
#include "base/suggest.h"
#include "base/time_text.h"
#include "base/utf8.h"

/* How a byte that is not UTF-8 stands in text for other programs: U+FFFD and its two hexadecimal
 * digits. */
#define TAKT_STRAY_BYTE "\xef\xbf\xbd%02x"

/* takt_utf8_decode, but 0 for U+FFFD too: its bytes are written as TAKT_STRAY_BYTE like those that
 * are not UTF-8, so that different texts stay different. */
static inline size_t takt_text_decode(const char *bytes, size_t size, uint32_t *character)
{
    size_t length = takt_utf8_decode(bytes, size, character);

    return length > 0 && *character == 0xfffd ? 0 : length;
}

/* The ending of a word after a count: "1 worker", "2 workers". */
static inline const char *takt_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
