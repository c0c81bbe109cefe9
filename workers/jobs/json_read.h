/*
 * json_read.h: a short way to read what most jobs look like.  jansson looks at each byte of a text
 * through several functions, which is a large part of what a small job costs.
 *
 * Whatever is out of the ordinary is left to jansson: what is wrong, which it says in its words,
 * numbers with fractions, \u, names that are not ASCII, deep nesting.
 */
#ifndef TAKT_WORKERS_JSON_READ_H
#define TAKT_WORKERS_JSON_READ_H

#include <jansson.h>

/* An object, just as json_loadb with JSON_REJECT_DUPLICATES gives it; NULL: ask that. */
json_t *json_read(const char *text, size_t size);

#endif
