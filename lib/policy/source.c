/*
 * source.c: reads a policy file and decides whether it is a valid text: UTF-8, of limited size, and
 * without characters that make an editor count lines differently. outline.c checks the YAML.
 */
#include "policy/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"

void takt_source_init(takt_source *source, const char *name, const char *text, size_t size)
{
    size_t length = strlen(name);
    source->text = text;
    source->size = size;
    if (length <= TAKT_SOURCE_NAME_MAX) {
        memcpy(source->name, name, length + 1);
        return;
    }
    const char *end = name + length - (TAKT_SOURCE_NAME_MAX - 3);
    while (((unsigned char)*end & 0xc0) == 0x80) /* not inside a character */
        end++;
    snprintf(source->name, sizeof source->name, "...%s", end);
}

static int refuse_file(takt_error *error, const char *path, int number)
{
    takt_source source;
    takt_source_init(&source, path, NULL, 0);
    if (number == ENOMEM)
        return takt_fail(error, TAKT_E_NOMEM, "%s: no memory to read it", source.name);
    return takt_fail(error, TAKT_E_POLICY, "%s: cannot be read: %s", source.name, strerror(number));
}

int takt_source_read(const char *path, char **text, size_t *size, takt_error *error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return refuse_file(error, path, errno);
    char *read = NULL;
    size_t used = 0, capacity = 4096;
    int number = 0;
    for (;;) {
        char *larger = realloc(read, capacity);
        if (larger == NULL) {
            number = ENOMEM;
            break;
        }
        read = larger;
        errno = 0;
        used += fread(read + used, 1, capacity - used, file);
        if (ferror(file))
            number = errno != 0 ? errno : EIO;
        if (used < capacity || used > TAKT_SOURCE_SIZE_MAX)
            break;
        capacity = capacity * 2 <= TAKT_SOURCE_SIZE_MAX ? capacity * 2 : TAKT_SOURCE_SIZE_MAX + 1;
    }
    fclose(file);
    if (number != 0) {
        free(read);
        return refuse_file(error, path, number);
    }
    *text = read;
    *size = used;
    return 0;
}

/* The reason why a policy may not have a character. NULL: the character is allowed. */
static const char *reason_against(const char *at, size_t left, size_t length, uint32_t character)
{
    if (length == 0)
        return "is not UTF-8; save the file as UTF-8";
    if (character == 0)
        return "has a NUL byte; write plain text";
    if (character == '\r' && (left < 2 || at[1] != '\n'))
        return "has a carriage return without a line feed; end lines with a line feed";
    if ((character < 0x20 && character != '\n' && character != '\r' && character != '\t') ||
        (character >= 0x7f && character < 0xa0))
        return "has a control character; take it out";
    if (character == 0x2028 || character == 0x2029)
        return "has a line separator (U+2028, U+2029); end lines with a line feed";
    if (character == 0xfeff)
        return "has a byte order mark inside; take it out";
    if ((character & 0xfffe) == 0xfffe)
        return "has a character that is none (U+FFFE, U+FFFF); take it out";
    return NULL;
}

int takt_source_check(takt_source *source, takt_error *error)
{
    if (source->size > TAKT_SOURCE_SIZE_MAX)
        return takt_fail(error, TAKT_E_POLICY, "%s:1: is larger than 1 MiB; write a smaller policy",
                         source->name);
    if (source->size >= 2 &&
        (memcmp(source->text, "\xff\xfe", 2) == 0 || memcmp(source->text, "\xfe\xff", 2) == 0))
        return takt_fail(error, TAKT_E_POLICY, "%s:1: is UTF-16; save the file as UTF-8",
                         source->name);
    if (source->size >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0) {
        source->text += 3;
        source->size -= 3;
    }
    size_t line = 1;
    for (size_t at = 0; at < source->size;) {
        uint32_t character = 0;
        size_t left = source->size - at;
        size_t length = takt_utf8_decode(source->text + at, left, &character);
        const char *reason = reason_against(source->text + at, left, length, character);
        if (reason != NULL)
            return takt_fail(error, TAKT_E_POLICY, "%s:%zu: %s", source->name, line, reason);
        if (character == '\n')
            line++;
        at += length;
    }
    return 0;
}
