/*
 * json_write.c: see json_write.h.
 */
#include "json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

#define REAL_SIZE   64
#define SECONDS_MAX 1e6 /* below, millionths are told from their neighbours */
#define MILLION     1000000

static bool make_room(json_text *text, size_t more)
{
    size_t capacity = text->capacity ? text->capacity : 4096;

    if (text->failed || more <= text->capacity - text->size)
        return !text->failed;
    while (capacity - text->size < more)
        capacity *= 2;
    char *larger = realloc(text->at, capacity);
    text->failed = !larger;
    if (larger) {
        text->at = larger;
        text->capacity = capacity;
    }
    return larger;
}

void json_put_bytes(json_text *text, const char *bytes, size_t size)
{
    if (size == 0 || !make_room(text, size))
        return;
    memcpy(text->at + text->size, bytes, size);
    text->size += size;
}

static void put_byte(json_text *text, char byte)
{
    json_put_bytes(text, &byte, 1);
}

static bool is_plain(char byte)
{
    return (unsigned char)byte >= 0x20 && byte != '"' && byte != '\\';
}

static void put_escaped(json_text *text, char byte)
{
    static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = memchr(names, byte, sizeof(names) - 1);
    char escaped[8];

    if (found) {
        put_byte(text, '\\');
        put_byte(text, letters[found - names]);
    } else {
        snprintf(escaped, sizeof(escaped), "\\u%04x", (unsigned)byte);
        json_put_bytes(text, escaped, 6);
    }
}

void json_put_string(json_text *text, const char *bytes, size_t size)
{
    const char *at = bytes, *end = bytes + size;

    put_byte(text, '"');
    while (at < end) {
        const char *from = at;
        while (at < end && is_plain(*at))
            at++;
        json_put_bytes(text, from, (size_t)(at - from));
        if (at < end)
            put_escaped(text, *at++);
    }
    put_byte(text, '"');
}

void json_put_name(json_text *text, const char *name)
{
    put_byte(text, ',');
    json_put_string(text, name, strlen(name));
    put_byte(text, ':');
}

void json_put_integer(json_text *text, int64_t number)
{
    char digits[DIGITS_MAX + 1];

    json_put_bytes(text, digits, digits_put_signed(digits, number));
}

void json_put_millionths(json_text *text, int64_t number)
{
    char digits[2 * DIGITS_MAX + 2] = "-";
    uint64_t whole = number < 0 ? -(uint64_t)number : (uint64_t)number;
    size_t size = number < 0;

    size += digits_put(digits + size, whole / MILLION, 1);
    digits[size++] = '.';
    size += digits_put(digits + size, whole % MILLION, 6);
    while (digits[size - 1] == '0' && digits[size - 2] != '.')
        size--;
    json_put_bytes(text, digits, size);
}

/* What was given in millionths, like seconds of a clock, is written in them; no digit too many. */
static void put_real(json_text *text, const json_t *real)
{
    double value = json_real_value(real);
    double rounded = value * MILLION + (value < 0 ? -0.5 : 0.5);
    int64_t millionths = fabs(value) < SECONDS_MAX ? (int64_t)rounded : 0;
    char digits[REAL_SIZE];

    if ((double)millionths / MILLION == value)
        json_put_millionths(text, millionths);
    else
        json_put_bytes(
            text, digits,
            json_dumpb(real, digits, sizeof(digits), JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)));
}

static void put_object(json_text *text, json_t *object)
{
    const char *name;
    json_t *value;
    bool is_first = true;

    put_byte(text, '{');
    json_object_foreach(object, name, value)
    {
        if (!is_first)
            put_byte(text, ',');
        is_first = false;
        json_put_string(text, name, strlen(name));
        put_byte(text, ':');
        json_put(text, value);
    }
    put_byte(text, '}');
}

static void put_array(json_text *text, const json_t *array)
{
    put_byte(text, '[');
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0)
            put_byte(text, ',');
        json_put(text, json_array_get(array, i));
    }
    put_byte(text, ']');
}

void json_put(json_text *text, const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT:
        put_object(text, (json_t *)(uintptr_t)value); /* which it only reads */
        break;
    case JSON_ARRAY:
        put_array(text, value);
        break;
    case JSON_STRING:
        json_put_string(text, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        json_put_integer(text, json_integer_value(value));
        break;
    case JSON_REAL:
        put_real(text, value);
        break;
    case JSON_TRUE:
        json_put_bytes(text, "true", 4);
        break;
    case JSON_FALSE:
        json_put_bytes(text, "false", 5);
        break;
    case JSON_NULL:
        json_put_bytes(text, "null", 4);
        break;
    }
}
