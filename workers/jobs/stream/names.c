/*
 * names.c: see names.h.
 */
#include "names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int takt_stream_names_check(const char *name, const char *what, takt_error *error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-:/@";
    size_t size = strlen(name);

    if (size > 0 && size <= TAKT_STREAM_NAME_MAX && strspn(name, allowed) == size)
        return 0;
    if (error != NULL) {
        error->code = TAKT_E_INVALID;
        snprintf(error->text, sizeof error->text,
                 "a %s's name has 1 to %d letters, digits and . _ - : / @", what,
                 TAKT_STREAM_NAME_MAX);
    }
    return TAKT_E_INVALID;
}

void takt_stream_names_key(char key[TAKT_STREAM_KEY_SIZE], const char *name)
{
    snprintf(key, TAKT_STREAM_KEY_SIZE, "takt:jobs:{%s}", name);
}

void takt_stream_names_dead_key(char key[TAKT_STREAM_KEY_SIZE], const char *name)
{
    snprintf(key, TAKT_STREAM_KEY_SIZE, "takt:jobs:{%s}:dead", name);
}

size_t takt_stream_names_write_entry(char text[TAKT_STREAM_ENTRY_SIZE], takt_job_ref ref)
{
    return (size_t)snprintf(text, TAKT_STREAM_ENTRY_SIZE, "%" PRIu64 "-%" PRIu64, ref.major,
                            ref.minor);
}

/* Reads the digits before `stop`; false if there is anything else. */
static bool read_digits(const char **at, const char *end, char stop, uint64_t *value)
{
    const char *first = *at;

    *value = 0;
    for (; *at < end && **at != stop; ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (**at < '0' || **at > '9' || *value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return *at > first;
}

bool takt_stream_names_read_entry(const takt_reply *value, takt_job_ref *ref)
{
    const char *at = value->text, *end = at + value->size;
    takt_job_ref read;

    if (value->type != TAKT_REPLY_STRING || !read_digits(&at, end, '-', &read.major) || at == end)
        return false;
    at++;
    if (!read_digits(&at, end, '\0', &read.minor) || at != end)
        return false;
    *ref = read;
    return true;
}

const takt_reply *takt_stream_names_field(const takt_reply *fields, const char *name)
{
    int count = fields->type == TAKT_REPLY_ARRAY ? fields->count : 0;

    for (int i = 1; i + 1 <= count; i += 2)
        if (fields[i].type == TAKT_REPLY_STRING && fields[i + 1].type == TAKT_REPLY_STRING &&
            strcmp(fields[i].text, name) == 0)
            return &fields[i + 1];
    return NULL;
}
