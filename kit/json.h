/*
 * Foreign text as JSON.
 */
#ifndef TAKT_KIT_JSON_H
#define TAKT_KIT_JSON_H

#include <stddef.h>

#define TAKT_JSON_CHARACTER_SIZE 16 /* with its NUL */

/* The first character of `size` > 0 bytes as it stands between the quotes of a JSON string: escaped
 * if it is invisible, U+FFFD if it is no UTF-8, so that every reader takes it.  Returns how many
 * bytes of `text` it has. */
size_t takt_json_character(const char *text, size_t size, char character[TAKT_JSON_CHARACTER_SIZE]);

#endif
