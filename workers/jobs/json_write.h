/*
 * json_write.h: JSON as text, into a buffer that grows: json_dumps with JSON_COMPACT, in a sixth of
 * its time.  Where a job takes no longer than its own overhead, what it gave is a part of that.
 */
#ifndef TAKT_WORKERS_JSON_WRITE_H
#define TAKT_WORKERS_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* Zeros at first; its memory is the user's to free. */
typedef struct json_text {
    char *at; /* without a NUL */
    size_t size, capacity;
} json_text;

/* Adds a value.  False: no memory; then a part of it was added. */
bool json_write(json_text *text, const json_t *value);

/* Adds bytes as they are; false: no memory. */
bool json_text_put(json_text *text, const char *bytes, size_t size);

#endif
