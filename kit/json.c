/*
 * json.c: see json.h.
 */
#include "kit/json.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kit/text.h"

size_t takt_json_character(const char *text, size_t size, char character[TAKT_JSON_CHARACTER_SIZE])
{
    uint32_t letter = 0;
    size_t count = takt_text_decode(text, size, &letter);

    if (count == 0) {
        snprintf(character, TAKT_JSON_CHARACTER_SIZE, TAKT_STRAY_BYTE, (unsigned char)*text);
        return 1;
    }
    if (letter == '"' || letter == '\\') {
        snprintf(character, TAKT_JSON_CHARACTER_SIZE, "\\%c", (char)letter);
    } else if (!takt_quote_hides(letter)) {
        memcpy(character, text, count);
        character[count] = '\0';
    } else if (letter <= 0xffff) {
        snprintf(character, TAKT_JSON_CHARACTER_SIZE, "\\u%04x", (unsigned)letter);
    } else { /* a surrogate pair, since JSON's escapes are UTF-16 */
        snprintf(character, TAKT_JSON_CHARACTER_SIZE, "\\u%04x\\u%04x",
                 (unsigned)(0xd7c0 + (letter >> 10)), (unsigned)(0xdc00 + (letter & 0x3ff)));
    }
    return count;
}
