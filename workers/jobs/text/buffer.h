/*
 * buffer.h: a text that grows.  Trouble is noted, and asked for once, at the end.
 */
#ifndef TAKT_WORKERS_TEXT_BUFFER_H
#define TAKT_WORKERS_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Zeros at first; `at` is not ended by a NUL, unless takt_buffer_end did. */
typedef struct takt_buffer {
    char *at;
    size_t size, room;
    bool failed; /* there was no memory: what is in it is not to be used */
} takt_buffer;

/* False: it has failed, now or before. */
bool takt_buffer_put(takt_buffer *buffer, const char *bytes, size_t size);
void takt_buffer_char(takt_buffer *buffer, char c);
void takt_buffer_text(takt_buffer *buffer, const char *text);

/* Puts a NUL behind what is in it, without counting it; the text, or "" where it has failed. */
const char *takt_buffer_end(takt_buffer *buffer);

/* Back to its first `size` bytes, whatever has failed behind them. */
void takt_buffer_cut(takt_buffer *buffer, size_t size);

/* Without its first `size` bytes. */
void takt_buffer_drop(takt_buffer *buffer, size_t size);

/* Empty again, with its memory. */
void takt_buffer_clear(takt_buffer *buffer);
void takt_buffer_free(takt_buffer *buffer);

#endif
