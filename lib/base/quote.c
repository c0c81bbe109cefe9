/*
 * Quotes a text for a message.  Decides what may be shown as it is: what a terminal would obey
 * (escapes) or would hide (blanks of no width, turned writing directions) may not.
 */
#include "base/quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define SHOWN_MAX 48 /* bytes of the value; each takes four at most when escaped */

_Static_assert(SHOWN_MAX * 4 + sizeof "\"...\"" <= TAKT_QUOTE_SIZE, "every byte escaped must fit");

static bool is_visible(uint32_t character)
{
    if (character < 0x20 || (character >= 0x7f && character < 0xa0))
        return false;
    if ((character >= 0x200b && character <= 0x200f) ||
        (character >= 0x2028 && character <= 0x202e))
        return false;
    return !(character >= 0x2060 && character <= 0x206f) && character != 0xfeff;
}

const char *takt_quote(const char *value, char text[TAKT_QUOTE_SIZE])
{
    size_t size = strlen(value);
    size_t from = 0;
    char *end = text;
    *end++ = '"';
    while (from < size) {
        uint32_t character = 0;
        size_t length = takt_utf8_decode(value + from, size - from, &character);
        bool visible = length > 0 && is_visible(character);
        if (length == 0)
            length = 1;
        if (from + length > SHOWN_MAX)
            break;
        for (size_t i = 0; i < length; i++, from++) {
            if (!visible)
                end += sprintf(end, "\\x%02x", (unsigned)(unsigned char)value[from]);
            else if (value[from] == '"' || value[from] == '\\')
                end += sprintf(end, "\\%c", value[from]);
            else
                *end++ = value[from];
        }
    }
    strcpy(end, from < size ? "...\"" : "\"");
    return text;
}
