/*
 * utf8.h: decodes one UTF-8 character at a time, strictly: no overlong forms, no surrogates,
 * nothing above U+10FFFF.
 */
#ifndef TAKT_BASE_UTF8_H
#define TAKT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes the character at the start of `size` bytes. Returns the length of the character in bytes;
 * 0: the bytes are not UTF-8. */
size_t takt_utf8_decode(const char *bytes, size_t size, uint32_t *character);

/* How many of the first `size` bytes of a longer text end with a whole character. */
size_t takt_utf8_whole(const char *text, size_t size);

#endif
