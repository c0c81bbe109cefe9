/*
 * Writes any bytes as a JSON string.  Numbers and braces are plain enough for printf where they are
 * needed.
 */
#include "json.h"

#include <string.h>

/* How many bytes the UTF-8 character at the start of `size` > 0 bytes takes; 0 if it is none. */
static size_t character_size(const unsigned char *bytes, size_t size)
{
    unsigned char first = bytes[0];
    size_t count = first < 0x80   ? 1
                   : first < 0xc2 ? 0
                   : first < 0xe0 ? 2
                   : first < 0xf0 ? 3
                   : first < 0xf5 ? 4
                                  : 0;

    if (count > size)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and what lies above U+10FFFF. */
    if ((first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] > 0x9f) ||
        (first == 0xf0 && bytes[1] < 0x90) || (first == 0xf4 && bytes[1] > 0x8f))
        return 0;
    return count;
}

void takt_cli_json_string(FILE *file, const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;

    putc('"', file);
    for (size_t i = 0; i < size;) {
        size_t count = character_size(bytes + i, size - i);
        if (count == 0) {
            fputs("\\ufffd", file);
            count = 1;
        } else if (bytes[i] == '"' || bytes[i] == '\\') {
            fprintf(file, "\\%c", bytes[i]);
        } else if (bytes[i] < ' ' || bytes[i] == 0x7f) {
            fprintf(file, "\\u%04x", bytes[i]);
        } else {
            fwrite(bytes + i, 1, count, file);
        }
        i += count;
    }
    putc('"', file);
}

void takt_cli_json_field(const char *name, const char *text)
{
    printf("\"%s\":", name);
    if (text)
        takt_cli_json_string(stdout, text, strlen(text));
    else
        printf("null");
}
