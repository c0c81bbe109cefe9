/*
 * say.c: texts of somebody else's, made harmless for a message.
 */
#include "say.h"

#include <stdio.h>
#include <string.h>

/* With a backslash before each of `marked`. */
static const char *show(const char *text, size_t text_size, const char *marked, char *shown,
                        size_t size)
{
    size_t used = 0;

    shown[used++] = '"';
    for (size_t i = 0; i < text_size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (used + 9 > size) {
            used += (size_t)sprintf(shown + used, "...");
            break;
        }
        if (byte < 0x20 || byte > 0x7e) {
            used += (size_t)sprintf(shown + used, "\\x%02x", byte);
        } else {
            if (strchr(marked, byte))
                shown[used++] = '\\';
            shown[used++] = (char)byte;
        }
    }
    shown[used++] = '"';
    shown[used] = '\0';
    return shown;
}

const char *say_shown(const char *text, size_t text_size, char *shown, size_t size)
{
    return show(text, text_size, "", shown, size);
}

const char *say_quoted(const char *text, size_t text_size, char *shown, size_t size)
{
    return show(text, text_size, "\"\\", shown, size);
}
