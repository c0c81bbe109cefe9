/*
 * One character of UTF-8 at a time, read strictly: no overlong forms, no surrogates, nothing above
 * U+10FFFF.
 */
#ifndef TAKT_BASE_UTF8_H
#define TAKT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Reads the character at the start of `size` bytes; returns how many bytes it takes, 0 if it is
 * none. */
size_t takt_utf8_decode(const char *bytes, size_t size, uint32_t *character);

#endif
