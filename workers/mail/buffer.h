/*
 * buffer.h: a text that grows.  Trouble is noted, and asked for once, at the end.
 */
#ifndef TAKT_WORKERS_BUFFER_H
#define TAKT_WORKERS_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#define BUFFER_MAX ((size_t)32 * 1024 * 1024)

/* Zeros at first; `at` is not ended by a NUL, unless buffer_end did. */
typedef struct mail_buffer {
    char *at;
    size_t size, room;
    bool failed; /* no memory, or more than BUFFER_MAX: what is in it is not to be used */
} mail_buffer;

void buffer_put(mail_buffer *buffer, const char *bytes, size_t size);
void buffer_char(mail_buffer *buffer, char c);
void buffer_text(mail_buffer *buffer, const char *text);

/* Puts a NUL behind what is in it, without counting it; the text, or "" where it has failed. */
const char *buffer_end(mail_buffer *buffer);

/* Empty again, with its memory. */
void buffer_clear(mail_buffer *buffer);
void buffer_free(mail_buffer *buffer);

#endif
