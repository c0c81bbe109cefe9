/*
 * buffer.h: a text that grows. Failures are kept, so that the caller checks once, at the end.
 */
#ifndef TAKT_WORKERS_TEXT_BUFFER_H
#define TAKT_WORKERS_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Zeros at first; `at` ends with a NUL only after takt_buffer_end. */
typedef struct takt_buffer {
    char *at;
    size_t size, room;
    bool failed; /* there was no memory: the content must not be used */
} takt_buffer;

/* False: this call or an earlier one has failed. */
bool takt_buffer_put(takt_buffer *buffer, const char *bytes, size_t size);
void takt_buffer_char(takt_buffer *buffer, char c);
void takt_buffer_text(takt_buffer *buffer, const char *text);

/* Adds a NUL without counting it. Returns the text, or "" after a failure. */
const char *takt_buffer_end(takt_buffer *buffer);

/* Cuts to the first `size` bytes and forgets a failure after them. */
void takt_buffer_cut(takt_buffer *buffer, size_t size);

/* Removes the first `size` bytes. */
void takt_buffer_drop(takt_buffer *buffer, size_t size);

/* Empties the buffer and keeps its memory. */
void takt_buffer_clear(takt_buffer *buffer);
void takt_buffer_free(takt_buffer *buffer);

#endif
