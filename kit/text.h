/*
 * The small texts that messages of programs are made of, from the library's base: foreign text in
 * quotes, characters of UTF-8, the word that a misspelt one was meant to be, durations for a
 * person.
 */
#ifndef TAKT_KIT_TEXT_H
#define TAKT_KIT_TEXT_H

#include "base/quote.h"
#include "base/suggest.h"
#include "base/time_text.h"
#include "base/utf8.h"

#endif
