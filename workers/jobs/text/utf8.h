/*
 * utf8.h: the letters of a text that may be anything.
 */
#ifndef TAKT_WORKERS_TEXT_UTF8_H
#define TAKT_WORKERS_TEXT_UTF8_H

#include <stdint.h>

#define UTF8_BAD UINT32_MAX /* a byte that begins no letter */

/* The letter at *text, which is before `end`; *text is then behind it. */
uint32_t utf8_next(const char **text, const char *end);

#endif
