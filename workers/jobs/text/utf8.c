/*
 * utf8.c: RFC 3629: no letter longer than need be, no surrogates, nothing beyond U+10FFFF.
 */
#include "utf8.h"

uint32_t utf8_next(const char **text, const char *end)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)*text;
    int more = at[0] < 0x80 ? 0 : at[0] < 0xc0 ? -1 : at[0] < 0xe0 ? 1 : at[0] < 0xf0 ? 2 : 3;
    uint32_t letter = more <= 0 ? at[0] : at[0] & (0x3fu >> more);

    ++*text;
    if (more < 0 || at[0] >= 0xf8 || end - *text < more)
        return UTF8_BAD;
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return UTF8_BAD;
        letter = letter << 6 | (at[i] & 0x3f);
    }
    if (letter < least[more] || letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000))
        return UTF8_BAD;
    *text += more;
    return letter;
}
