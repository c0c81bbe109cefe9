/*
 * quote.c: quotes a text for a message. It decides which characters are escaped: characters that a
 * terminal obeys (control characters) or hides (no width, a changed writing direction). Callers
 * write the message.
 */
#include "base/quote.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define SHOWN_MAX 48 /* bytes of the value; each takes four at most when escaped */

_Static_assert(SHOWN_MAX * 4 + sizeof "\"...\"" <= TAKT_QUOTE_SIZE, "every byte escaped must fit");

bool takt_quote_hides(uint32_t character)
{
    static const struct {
        uint32_t from, to;
    } rows[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
        {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
        {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
    };
    size_t row = 0;

    while (row + 1 < sizeof rows / sizeof rows[0] && character > rows[row].to)
        row++;
    return character >= rows[row].from && character <= rows[row].to;
}

/* Writes the character at `from`, or a byte that begins no character. Returns the bytes written. */
static size_t put(char *to, const char *from, size_t length, bool visible)
{
    char *end = to;

    for (size_t i = 0; i < length; i++) {
        if (!visible)
            end += sprintf(end, "\\x%02x", (unsigned)(unsigned char)from[i]);
        else if (from[i] == '"' || from[i] == '\\')
            end += sprintf(end, "\\%c", from[i]);
        else
            *end++ = from[i];
    }
    return (size_t)(end - to);
}

/* Quotes at most `max` bytes of the value. */
static void quote(const char *value, size_t size, size_t max, char *text, size_t text_size)
{
    const char *room = text + text_size - sizeof "...\"";
    char one[4 * 4 + 1], *end = text;
    size_t from = 0;

    *end++ = '"';
    while (from < size) {
        uint32_t character = 0;
        size_t length = takt_utf8_decode(value + from, size - from, &character);
        bool visible = length > 0 && !takt_quote_hides(character);
        if (length == 0)
            length = 1;
        size_t used = put(one, value + from, length, visible);
        if (from + length > max || used > (size_t)(room - end))
            break;
        memcpy(end, one, used);
        end += used;
        from += length;
    }
    strcpy(end, from < size ? "...\"" : "\"");
}

const char *takt_quote(const char *value, char text[TAKT_QUOTE_SIZE])
{
    quote(value, strlen(value), SHOWN_MAX, text, TAKT_QUOTE_SIZE);
    return text;
}

const char *takt_quote_bytes(const char *value, size_t size, char *quoted, size_t quoted_size)
{
    quote(value, size, SIZE_MAX, quoted, quoted_size);
    return quoted;
}
