/*
 * How a text that somebody wrote is shown in a message: in double quotes, short, and harmless to a
 * terminal.
 */
#ifndef TAKT_BASE_QUOTE_H
#define TAKT_BASE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAKT_QUOTE_SIZE 200 /* a quoted text with its NUL */

/* Writes `value` to `text` and returns `text`.  Control characters, invisible ones and bytes that
 * are not UTF-8 become \xNN, quotes and backslashes get a backslash; a long text is cut and ends
 * with "...". */
const char *takt_quote(const char *value, char text[TAKT_QUOTE_SIZE]);

/* The same for `size` bytes that may be anything, as many of them as there is room for in
 * `quoted`, which has `quoted_size` bytes, at least 16. */
const char *takt_quote_bytes(const char *value, size_t size, char *quoted, size_t quoted_size);

/* Whether a terminal would obey a character or hide it: controls, characters without width, and
 * those that turn the writing direction.  Such a character is shown escaped. */
bool takt_quote_hides(uint32_t character);

#endif
