/*
 * buffer.c: doubles its memory when it is full.
 */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(text_buffer *buffer, size_t more)
{
    size_t room = buffer->room ? buffer->room : 1024;

    if (buffer->failed)
        return false;
    if (more <= buffer->room - buffer->size)
        return true;
    while (room - buffer->size < more)
        room *= 2;
    char *at = realloc(buffer->at, room);
    buffer->failed = !at;
    if (at) {
        buffer->at = at;
        buffer->room = room;
    }
    return at;
}

bool buffer_put(text_buffer *buffer, const char *bytes, size_t size)
{
    if (!make_room(buffer, size))
        return false;
    if (size > 0)
        memcpy(buffer->at + buffer->size, bytes, size);
    buffer->size += size;
    return true;
}

void buffer_char(text_buffer *buffer, char c)
{
    buffer_put(buffer, &c, 1);
}

void buffer_text(text_buffer *buffer, const char *text)
{
    buffer_put(buffer, text, strlen(text));
}

const char *buffer_end(text_buffer *buffer)
{
    if (!make_room(buffer, 1))
        return "";
    buffer->at[buffer->size] = '\0';
    return buffer->at;
}

void buffer_cut(text_buffer *buffer, size_t size)
{
    buffer->size = size;
    buffer->failed = false;
}

void buffer_drop(text_buffer *buffer, size_t size)
{
    if (size > 0)
        memmove(buffer->at, buffer->at + size, buffer->size - size);
    buffer->size -= size;
}

void buffer_clear(text_buffer *buffer)
{
    buffer_cut(buffer, 0);
}

void buffer_free(text_buffer *buffer)
{
    free(buffer->at);
    *buffer = (struct text_buffer){0};
}
