/*
 * Writes any bytes as a JSON string. Numbers and braces are printed by printf where they are
 * needed.
 */
#include "json.h"

#include <string.h>

#include "kit/json.h"

void takt_cli_json_string(FILE *file, const char *text, size_t size)
{
    char character[TAKT_JSON_CHARACTER_SIZE];

    putc('"', file);
    while (size > 0) {
        size_t count = takt_json_character(text, size, character);
        fputs(character, file);
        text += count;
        size -= count;
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
