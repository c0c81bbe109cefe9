/*
 * json_write.c: see json_write.h.
 */
#include "json_write.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

#define REAL_SIZE   64
#define SECONDS_MAX 1e6 /* below, millionths are told from their neighbours */

static bool make_room(json_text *text, size_t more)
{
    size_t capacity = text->capacity ? text->capacity : 4096;

    if (more <= text->capacity - text->size)
        return true;
    while (capacity - text->size < more)
        capacity *= 2;
    char *larger = realloc(text->at, capacity);
    if (!larger)
        return false;
    text->at = larger;
    text->capacity = capacity;
    return true;
}

bool json_text_put(json_text *text, const char *bytes, size_t size)
{
    if (!make_room(text, size))
        return false;
    memcpy(text->at + text->size, bytes, size);
    text->size += size;
    return true;
}

static bool put_byte(json_text *text, char byte)
{
    return json_text_put(text, &byte, 1);
}

static bool is_plain(char byte)
{
    return (unsigned char)byte >= 0x20 && byte != '"' && byte != '\\';
}

static bool put_escaped(json_text *text, char byte)
{
    static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = memchr(names, byte, sizeof(names) - 1);
    char escaped[8];

    if (found) {
        escaped[0] = '\\';
        escaped[1] = letters[found - names];
        return json_text_put(text, escaped, 2);
    }
    snprintf(escaped, sizeof(escaped), "\\u%04x", (unsigned)byte);
    return json_text_put(text, escaped, 6);
}

static bool put_string(json_text *text, const char *at, size_t size)
{
    const char *end = at + size;
    bool good = put_byte(text, '"');

    while (good && at < end) {
        const char *from = at;
        while (at < end && is_plain(*at))
            at++;
        good = json_text_put(text, from, (size_t)(at - from)) &&
               (at == end || put_escaped(text, *at++));
    }
    return good && put_byte(text, '"');
}

static bool put_integer(json_text *text, json_int_t number)
{
    char digits[DIGITS_MAX + 1] = "-";
    uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number;
    size_t count = digits_put(digits + (number < 0), size, 1);

    return json_text_put(text, digits, count + (number < 0));
}

/* What is given in millionths, like seconds of a clock, is written in them; no digit too many. */
static bool put_real(json_text *text, const json_t *real)
{
    double value = json_real_value(real), whole = fabs(value);
    uint64_t micros = whole < SECONDS_MAX ? (uint64_t)(whole * 1e6 + 0.5) : 0;
    char digits[REAL_SIZE] = "-";

    if ((double)micros / 1e6 != whole) {
        size_t size =
            json_dumpb(real, digits, sizeof(digits), JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        return json_text_put(text, digits, size);
    }
    size_t size = value < 0;
    size += digits_put(digits + size, micros / 1000000, 1);
    digits[size++] = '.';
    size += digits_put(digits + size, micros % 1000000, 6);
    while (digits[size - 1] == '0' && digits[size - 2] != '.')
        size--;
    return json_text_put(text, digits, size);
}

static bool put_object(json_text *text, json_t *object)
{
    const char *name;
    json_t *value;
    bool good = put_byte(text, '{'), is_first = true;

    json_object_foreach(object, name, value)
    {
        good = good && (is_first || put_byte(text, ',')) && put_string(text, name, strlen(name)) &&
               put_byte(text, ':') && json_write(text, value);
        is_first = false;
    }
    return good && put_byte(text, '}');
}

static bool put_array(json_text *text, const json_t *array)
{
    bool good = put_byte(text, '[');

    for (size_t i = 0; good && i < json_array_size(array); i++)
        good = (i == 0 || put_byte(text, ',')) && json_write(text, json_array_get(array, i));
    return good && put_byte(text, ']');
}

bool json_write(json_text *text, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return put_object(text, (json_t *)(uintptr_t)value); /* which it only reads */
    case JSON_ARRAY:
        return put_array(text, value);
    case JSON_STRING:
        return put_string(text, json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
        return put_integer(text, json_integer_value(value));
    case JSON_REAL:
        return put_real(text, value);
    case JSON_TRUE:
        return json_text_put(text, "true", 4);
    case JSON_FALSE:
        return json_text_put(text, "false", 5);
    case JSON_NULL:
        break;
    }
    return json_text_put(text, "null", 4);
}
