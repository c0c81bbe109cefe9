/*
 * Fills a takt_error.  Decides how a text that is too long is cut: at its end, and never inside a
 * character, so that the place ("takt.yaml:7: ...") always survives.
 */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Drops a character of several bytes that the cut at `length` has left incomplete. */
static void trim_partial_character(char *text, size_t length)
{
    size_t start = length;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xc0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (length - (start - 1) < wanted)
        text[start - 1] = '\0';
}

__attribute__((format(printf, 2, 0))) static void write_text(char text[TAKT_ERROR_TEXT_SIZE],
                                                             const char *format, va_list arguments)
{
    int length = vsnprintf(text, TAKT_ERROR_TEXT_SIZE, format, arguments);
    if (length < 0)
        text[0] = '\0';
    else if (length >= TAKT_ERROR_TEXT_SIZE)
        trim_partial_character(text, TAKT_ERROR_TEXT_SIZE - 1);
}

/* Both functions write to a text of their own first: an argument may point into error->text. */
int takt_fail(takt_error *error, int code, const char *format, ...)
{
    if (error == NULL)
        return code;
    char text[TAKT_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    write_text(text, format, arguments);
    va_end(arguments);
    error->code = code;
    memcpy(error->text, text, strlen(text) + 1);
    return code;
}

void takt_fail_prefix(takt_error *error, const char *format, ...)
{
    if (error == NULL)
        return;
    char text[TAKT_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    write_text(text, format, arguments);
    va_end(arguments);

    size_t length = strlen(text);
    size_t rest = strlen(error->text);
    size_t space = sizeof text - 1 - length;
    int cut = rest > space;
    if (cut)
        rest = space;
    memcpy(text + length, error->text, rest);
    text[length + rest] = '\0';
    if (cut)
        trim_partial_character(text, length + rest);
    memcpy(error->text, text, strlen(text) + 1);
}
