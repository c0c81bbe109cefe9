/*
 * pointer.c: see pointer.h.
 */
#include "pointer.h"

#include <stdbool.h>
#include <string.h>

#define INDEX_DIGITS 9

const char *takt_caller_pointer_check(const char *pointer)
{
    if (*pointer && *pointer != '/')
        return "must be a JSON pointer; begin it with a slash, like /usage/total_tokens";
    if (strlen(pointer) > CALL_POINTER_MAX)
        return "has more than 1024 bytes; write a shorter one";
    for (const char *at = strchr(pointer, '~'); at; at = strchr(at + 1, '~'))
        if (at[1] != '0' && at[1] != '1')
            return "has a ~ without 0 or 1 behind it; write ~0 for a tilde and ~1 for a slash "
                   "inside a name";
    return NULL;
}

/* Reads one name, up to the next slash, and steps over it. Returns its size. */
static size_t read_name(const char **at, char name[CALL_POINTER_MAX])
{
    size_t size = 0;

    for (; **at && **at != '/'; ++*at) {
        char byte = **at;
        if (byte == '~')
            byte = *++*at == '1' ? '/' : '~';
        name[size++] = byte;
    }
    return size;
}

/* The element of a list: "0", "17", but not "017". */
static const json_t *element_of(const json_t *list, const char *name, size_t size)
{
    size_t index = 0;

    if (size == 0 || size > INDEX_DIGITS || (name[0] == '0' && size > 1))
        return NULL;
    for (size_t i = 0; i < size; i++) {
        if (name[i] < '0' || name[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(name[i] - '0');
    }
    return json_array_get(list, index);
}

const json_t *takt_caller_pointer_find(const json_t *document, const char *pointer)
{
    char name[CALL_POINTER_MAX];
    const json_t *at = document;

    while (at && *pointer == '/') {
        pointer++;
        size_t size = read_name(&pointer, name);
        at = json_is_array(at) ? element_of(at, name, size) : json_object_getn(at, name, size);
    }
    return at;
}
