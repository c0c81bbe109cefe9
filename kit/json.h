/*
 * Foreign text as JSON.
 */
#ifndef TAKT_KIT_JSON_H
#define TAKT_KIT_JSON_H

#include <stddef.h>

#define TAKT_JSON_CHARACTER_SIZE 16 /* with its NUL */

/* Writes the first character of `size` > 0 bytes as it stands between the quotes of a JSON string:
 * escaped if it is invisible. A byte that is not UTF-8, or of U+FFFD, becomes U+FFFD and two
 * hexadecimal digits, so that different texts stay different. Returns the number of bytes of `text`
 * that it takes. */
size_t takt_json_character(const char *text, size_t size, char character[TAKT_JSON_CHARACTER_SIZE]);

#endif
