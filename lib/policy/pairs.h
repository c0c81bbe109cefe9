/*
 * pairs.h: fields that are one text or a mapping of texts. A policy in code and takt_limit_text
 * write the mapping as YAML does on one line: "{NAME: VALUE, NAME: VALUE}". A name in quotes,
 * single or double, keeps its blanks and may have ": " in it; a doubled quote in it stands for one.
 */
#ifndef TAKT_POLICY_PAIRS_H
#define TAKT_POLICY_PAIRS_H

#include <stddef.h>

#include <takt/error.h>

#define TAKT_PAIRS_MAX       64   /* of any field */
#define TAKT_PAIRS_TEXT_SIZE 5120 /* of the whole text, with its NUL */

typedef struct takt_pair {
    const char *name, *value; /* not empty; without blanks around them, except in a quoted name */
} takt_pair;

typedef struct takt_pairs {
    takt_pair pairs[TAKT_PAIRS_MAX];
    int count; /* at least 1 */
    char text[TAKT_PAIRS_TEXT_SIZE];
} takt_pairs;

/* Reads a text that begins with a brace and has up to `max` pairs, TAKT_PAIRS_MAX at most. Names
 * are not repeated; values have no comma and no brace. Returns 0, or TAKT_E_POLICY with an error
 * that begins with the field. */
int takt_pairs_read(const char *field, const char *text, int max, takt_pairs *pairs,
                    takt_error *error);

/* Appends a name in quotes to a text of `size` bytes, cut to fit. */
void takt_pairs_quote(const char *name, char *text, size_t size);

#endif
