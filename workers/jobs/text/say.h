/*
 * say.h: texts of somebody else's, made harmless for a message.
 */
#ifndef TAKT_WORKERS_TEXT_SAY_H
#define TAKT_WORKERS_TEXT_SAY_H

#include <stddef.h>

/* The text in double quotes, a part of it where it is too long; what is not printable ASCII becomes
 * \xNN.  Returns `shown`. */
const char *say_shown(const char *text, size_t text_size, char *shown, size_t size);

/* The same with a backslash before its own quotes and backslashes: for lines of several texts,
 * where it must be seen which ends where. */
const char *say_quoted(const char *text, size_t text_size, char *shown, size_t size);

#endif
