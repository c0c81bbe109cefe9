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

/* The ending of a word after a count: "1 worker", "2 workers". */
static inline const char *takt_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
