/*
 * json_read.c: see json_read.h.  Each function here reads from `at` on; what it cannot read is NULL
 * or false, and then all is given up.
 */
#include "json_read.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE   64
#define DEPTH_MAX   16
#define DIGITS_MOST 18 /* of a number that certainly fits */

typedef struct reader {
    const char *at, *end;
    int depth;
} reader;

static json_t *read_value(reader *reader);

static void skip_blanks(reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t' ||
                                        *reader->at == '\n' || *reader->at == '\r'))
        reader->at++;
}

/* Whether that comes next, behind blanks; then it is behind it. */
static bool pass(reader *reader, char byte)
{
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != byte)
        return false;
    reader->at++;
    return true;
}

/* The end of a string, which begins here; NULL: it has none, or control characters. */
static const char *find_end(const reader *reader, bool *escaped, bool *ascii)
{
    *escaped = false;
    *ascii = true;
    for (const char *at = reader->at; at < reader->end; at++) {
        if (*at == '"')
            return at;
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at == '\\') {
            *escaped = true;
            at++; /* what it is, is looked at later */
        } else if ((unsigned char)*at >= 0x80) {
            *ascii = false;
        }
    }
    return NULL;
}

/* The size of what stands for it; 0: it has another kind of escape than those of one letter. */
static size_t unescape(const char *from, const char *end, char *into)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *begin = into;

    while (from < end) {
        if (*from == '\\') {
            const char *found = memchr(letters, *++from, sizeof(letters) - 1);
            if (!found)
                return 0;
            *into++ = meant[found - letters];
            from++;
        } else {
            *into++ = *from++;
        }
    }
    return (size_t)(into - begin);
}

static json_t *text_of(const char *text, size_t size, bool ascii)
{
    return ascii ? json_stringn_nocheck(text, size) : json_stringn(text, size);
}

static json_t *read_string(reader *reader)
{
    const char *from = reader->at, *end;
    bool escaped, ascii;
    json_t *made = NULL;

    if ((end = find_end(reader, &escaped, &ascii)) == NULL)
        return NULL;
    reader->at = end + 1;
    if (!escaped)
        return text_of(from, (size_t)(end - from), ascii);
    char *plain = malloc((size_t)(end - from));
    size_t size = plain ? unescape(from, end, plain) : 0;
    if (size > 0)
        made = text_of(plain, size, ascii);
    free(plain);
    return made;
}

static json_t *read_number(reader *reader)
{
    bool negative = *reader->at == '-';
    const char *from = reader->at += negative;
    json_int_t number = 0;

    for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++)
        if (reader->at - from < DIGITS_MOST)
            number = number * 10 + (*reader->at - '0');
    if (reader->at == from || reader->at - from > DIGITS_MOST ||
        (*from == '0' && reader->at - from > 1))
        return NULL;
    return json_integer(negative ? -number : number); /* a fraction's point is passed by nobody */
}

static json_t *read_word(reader *reader, const char *word, json_t *meant)
{
    size_t size = strlen(word);

    if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, word, size) != 0)
        return NULL;
    reader->at += size;
    return meant; /* these three are not counted */
}

static bool read_name(reader *reader, char name[NAME_SIZE])
{
    bool escaped, ascii;
    const char *end = pass(reader, '"') ? find_end(reader, &escaped, &ascii) : NULL;
    size_t size = end ? (size_t)(end - reader->at) : NAME_SIZE;

    if (size >= NAME_SIZE || escaped || !ascii)
        return false;
    memcpy(name, reader->at, size);
    name[size] = '\0';
    reader->at = end + 1;
    return pass(reader, ':');
}

static bool read_members(reader *reader, json_t *object)
{
    char name[NAME_SIZE];

    if (pass(reader, '}'))
        return true;
    for (size_t count = 1;; count++) {
        json_t *value = read_name(reader, name) ? read_value(reader) : NULL;
        if (!value || json_object_set_new_nocheck(object, name, value) != 0 ||
            json_object_size(object) != count) /* it was there before */
            return false;
        if (pass(reader, '}'))
            return true;
        if (!pass(reader, ','))
            return false;
    }
}

static bool read_items(reader *reader, json_t *array)
{
    if (pass(reader, ']'))
        return true;
    for (;;) {
        json_t *value = read_value(reader);
        if (!value || json_array_append_new(array, value) != 0)
            return false;
        if (pass(reader, ']'))
            return true;
        if (!pass(reader, ','))
            return false;
    }
}

static json_t *read_many(reader *reader, json_t *made,
                         bool (*read)(struct reader *reader, json_t *made))
{
    bool good = ++reader->depth <= DEPTH_MAX && made && read(reader, made);

    reader->depth--;
    if (good)
        return made;
    json_decref(made);
    return NULL;
}

static json_t *read_value(reader *reader)
{
    skip_blanks(reader);
    if (reader->at == reader->end)
        return NULL;
    switch (*reader->at) {
    case '{':
        reader->at++;
        return read_many(reader, json_object(), read_members);
    case '[':
        reader->at++;
        return read_many(reader, json_array(), read_items);
    case '"':
        reader->at++;
        return read_string(reader);
    case 't':
        return read_word(reader, "true", json_true());
    case 'f':
        return read_word(reader, "false", json_false());
    case 'n':
        return read_word(reader, "null", json_null());
    default:
        return read_number(reader);
    }
}

json_t *json_read(const char *text, size_t size)
{
    reader reader = {.at = text, .end = text + size};
    json_t *read = pass(&reader, '{') ? read_many(&reader, json_object(), read_members) : NULL;

    skip_blanks(&reader);
    if (!read || reader.at == reader.end)
        return read;
    json_decref(read);
    return NULL;
}
