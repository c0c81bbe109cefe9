/*
 * buffer.h: a text that grows.  Trouble is noted, and asked for once, at the end.
 */
#ifndef TAKT_WORKERS_TEXT_BUFFER_H
#define TAKT_WORKERS_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Zeros at first; `at` is not ended by a NUL, unless buffer_end did. */
typedef struct text_buffer {
    char *at;
    size_t size, room;
    bool failed; /* there was no memory: what is in it is not to be used */
} text_buffer;

/* False: it has failed, now or before. */
bool buffer_put(text_buffer *buffer, const char *bytes, size_t size);
void buffer_char(text_buffer *buffer, char c);
void buffer_text(text_buffer *buffer, const char *text);

/* Puts a NUL behind what is in it, without counting it; the text, or "" where it has failed. */
const char *buffer_end(text_buffer *buffer);

/* Back to its first `size` bytes, whatever has failed behind them. */
void buffer_cut(text_buffer *buffer, size_t size);

/* Without its first `size` bytes. */
void buffer_drop(text_buffer *buffer, size_t size);

/* Empty again, with its memory. */
void buffer_clear(text_buffer *buffer);
void buffer_free(text_buffer *buffer);

#endif
