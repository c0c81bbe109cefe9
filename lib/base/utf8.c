/*
 * utf8.c: decodes strict UTF-8. The callers decide which characters they accept.
 */
#include "base/utf8.h"

size_t takt_utf8_decode(const char *bytes, size_t size, uint32_t *character)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    if (size == 0)
        return 0;
    uint32_t value = (unsigned char)bytes[0];
    if (value < 0x80) {
        *character = value;
        return 1;
    }
    size_t length = value >= 0xf8   ? 0
                    : value >= 0xf0 ? 4
                    : value >= 0xe0 ? 3
                    : value >= 0xc0 ? 2
                                    : 0;
    if (length == 0 || length > size)
        return 0;
    value &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++) {
        uint32_t next = (unsigned char)bytes[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (next & 0x3f);
    }
    if (value < min[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *character = value;
    return length;
}

size_t takt_utf8_whole(const char *text, size_t size)
{
    size_t start = size, length;

    while (start > 0 && size - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xc0)
        return size;
    start--;
    length = (unsigned char)text[start] >= 0xf0 ? 4 : (unsigned char)text[start] >= 0xe0 ? 3 : 2;
    return size - start < length ? start : size;
}
