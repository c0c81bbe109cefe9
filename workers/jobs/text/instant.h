/*
 * instant.h: an instant as JSON documents write it (RFC 3339).
 */
#ifndef TAKT_WORKERS_TEXT_INSTANT_H
#define TAKT_WORKERS_TEXT_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

/* Reads "2026-11-22T12:00:00Z", "...:00.25+01:00" as microseconds since the Unix epoch, above 0. */
bool takt_instant_read(const char *text, int64_t *at_us);

#define TAKT_INSTANT_SIZE 32 /* with its NUL */

/* Writes one in UTC, with microseconds. Returns `text`. */
const char *takt_instant_write(int64_t at_us, char text[TAKT_INSTANT_SIZE]);

#endif
