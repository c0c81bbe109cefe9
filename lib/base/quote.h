/*
 * quote.h: quotes foreign text for a message: in double quotes, short, and harmless to a terminal.
 */
#ifndef TAKT_BASE_QUOTE_H
#define TAKT_BASE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAKT_QUOTE_SIZE 200 /* a quoted text with its NUL */

/* Writes `value` to `text` and returns `text`. Control characters, invisible characters and bytes
 * that are not UTF-8 become \xNN. Quotes and backslashes get a backslash. A long text is cut and
 * ends with "...". */
const char *takt_quote(const char *value, char text[TAKT_QUOTE_SIZE]);

/* The same for `size` arbitrary bytes. `quoted` has `quoted_size` bytes, at least 16; the value is
 * cut to fit. */
const char *takt_quote_bytes(const char *value, size_t size, char *quoted, size_t quoted_size);

/* Whether a character is shown escaped: control characters, characters without width, and
 * characters that change the writing direction. */
bool takt_quote_hides(uint32_t character);

#endif
