/*
 * buffer.c: doubles its memory when it is full.
 */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(takt_buffer *buffer, size_t more)
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

bool takt_buffer_put(takt_buffer *buffer, const char *bytes, size_t size)
{
    if (!make_room(buffer, size))
        return false;
    if (size > 0)
        memcpy(buffer->at + buffer->size, bytes, size);
    buffer->size += size;
    return true;
}

void takt_buffer_char(takt_buffer *buffer, char c)
{
    takt_buffer_put(buffer, &c, 1);
}

void takt_buffer_text(takt_buffer *buffer, const char *text)
{
    takt_buffer_put(buffer, text, strlen(text));
}

const char *takt_buffer_end(takt_buffer *buffer)
{
    if (!make_room(buffer, 1))
        return "";
    buffer->at[buffer->size] = '\0';
    return buffer->at;
}

void takt_buffer_cut(takt_buffer *buffer, size_t size)
{
    buffer->size = size;
    buffer->failed = false;
}

void takt_buffer_drop(takt_buffer *buffer, size_t size)
{
    if (size > 0)
        memmove(buffer->at, buffer->at + size, buffer->size - size);
    buffer->size -= size;
}

void takt_buffer_clear(takt_buffer *buffer)
{
    takt_buffer_cut(buffer, 0);
}

void takt_buffer_free(takt_buffer *buffer)
{
    free(buffer->at);
    *buffer = (takt_buffer){0};
}
