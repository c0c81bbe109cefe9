/*
 * json_write.h: JSON as text, into a buffer that grows: json_dumps with JSON_COMPACT, in a sixth of
 * its time.  Where a job takes no longer than its own overhead, what it gave is a part of that.
 */
#ifndef TAKT_WORKERS_JSON_WRITE_H
#define TAKT_WORKERS_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Zeros at first; its memory is the user's to free. */
typedef struct json_text {
    char *at; /* without a NUL */
    size_t size, capacity;
    bool failed; /* there was no memory: what is in it is not to be used */
} json_text;

/* A value; NULL, which there is where memory was short, is null. */
void json_put(json_text *text, const json_t *value);

/* Parts of one, where no json_t is made of it: a further member's name with its comma and colon, */
void json_put_name(json_text *text, const char *name);
/* and values: a string of UTF-8, a whole number, so many millionths as a fraction, */
void json_put_string(json_text *text, const char *bytes, size_t size);
void json_put_integer(json_text *text, int64_t number);
void json_put_millionths(json_text *text, int64_t number);
/* and bytes as they are. */
void json_put_bytes(json_text *text, const char *bytes, size_t size);

#endif
