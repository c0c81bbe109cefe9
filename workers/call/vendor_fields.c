/*
 * vendor_fields.c: see vendor_fields.h.
 */
#include "vendor_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define NUMBER_MAX INT64_C(1000000000000000) /* what structured fields allow */
#define EPOCH_MIN  INT64_C(1000000000)       /* a larger number is in seconds of the epoch */
#define EPOCH_MS   INT64_C(100000000000)     /* a larger number is in milliseconds of the epoch */

enum { KIND_IETF, KIND_IETF_FIRST, KIND_X, KIND_X_DASHED };

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Reads a whole number, 0 or above, and steps over it; a fraction is rounded up. */
static bool read_number(const char **at, int64_t *number)
{
    const char *from = *at;
    int64_t read = 0;
    bool more = false;

    for (; is_digit(**at); ++*at)
        if (read < NUMBER_MAX)
            read = read * 10 + (**at - '0');
    if (*at == from || read >= NUMBER_MAX)
        return false;
    if (**at == '.')
        for (++*at; is_digit(**at); ++*at)
            more |= **at != '0';
    *number = read + more;
    return true;
}

/* The number, if the value is a number and nothing else. */
static int64_t read_whole(const char *value)
{
    int64_t number;

    value = skip_blanks(value);
    return read_number(&value, &number) && *skip_blanks(value) == '\0' ? number : VENDOR_UNSAID;
}

/* Steps over a text in double quotes or a token; returns `at` if there is neither. */
static const char *skip_bare(const char *at)
{
    if (*at != '"')
        return at + strcspn(at, " \t;,=\"");
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

/* Reads "=VALUE" after a key. *number is unchanged if the value is not a number. */
static const char *read_value(const char *at, int64_t *number)
{
    int64_t read;

    if (*at != '=')
        return at;
    const char *end = ++at;
    if (read_number(&end, &read) && strchr(" \t;,", *end)) {
        *number = read;
        return end;
    }
    if (*at == ':') /* base64 bytes, padded with "=" */
        return at + 1 + strcspn(at + 1, ":") + (strchr(at + 1, ':') != NULL);
    return skip_bare(at);
}

static bool is_word(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && memcmp(text, word, size) == 0;
}

/* Reads the parameters of an item: ";r=10;t=5". */
static const char *read_parameters(const char *at, takt_caller_vendor_word *item)
{
    while (*(at = skip_blanks(at)) == ';') {
        const char *key = skip_blanks(at + 1);
        const char *end = key + strcspn(key, " \t;,=\"");
        int64_t number = VENDOR_UNSAID;
        at = read_value(end, &number);
        if (is_word(key, (size_t)(end - key), "r"))
            item->remaining = number;
        else if (is_word(key, (size_t)(end - key), "t"))
            item->reset = number;
    }
    return at;
}

/* Keeps the one with fewer tokens left; of equals, the later reset. */
static void keep_min(takt_caller_vendor_word *kept, const takt_caller_vendor_word *other)
{
    if (other->remaining == VENDOR_UNSAID)
        return;
    if (kept->remaining == VENDOR_UNSAID || other->remaining < kept->remaining ||
        (other->remaining == kept->remaining && other->reset > kept->reset))
        *kept = *other;
}

/* Reads a list of items with parameters, or a dictionary. */
static void read_list(const char *at, takt_caller_vendor_word *word)
{
    takt_caller_vendor_word listed = {VENDOR_UNSAID, VENDOR_UNSAID};

    for (at = skip_blanks(at); *at; at = skip_blanks(at)) {
        takt_caller_vendor_word item = {VENDOR_UNSAID, VENDOR_UNSAID};
        int64_t number = VENDOR_UNSAID;
        const char *name = at, *end = skip_bare(at);
        at = read_parameters(read_value(end, &number), &item);
        if (is_word(name, (size_t)(end - name), "remaining"))
            listed.remaining = number;
        else if (is_word(name, (size_t)(end - name), "reset"))
            listed.reset = number;
        keep_min(word, &item);
        at += strcspn(at, ","); /* skip parts that are unknown here */
        at += *at == ',';
    }
    keep_min(word, &listed);
}

void takt_caller_vendor_fields_begin(takt_caller_vendor_fields *fields)
{
    for (int i = 0; i < VENDOR_KINDS; i++)
        fields->words[i] = (takt_caller_vendor_word){VENDOR_UNSAID, VENDOR_UNSAID};
}

void takt_caller_vendor_fields_read(takt_caller_vendor_fields *fields, const char *name,
                                    const char *value)
{
    static const struct {
        const char *name;
        int kind;
        bool reset;
    } known[] = {
        {"ratelimit-remaining", KIND_IETF_FIRST, false},
        {"ratelimit-reset", KIND_IETF_FIRST, true},
        {"x-ratelimit-remaining", KIND_X, false},
        {"x-ratelimit-reset", KIND_X, true},
        {"x-rate-limit-remaining", KIND_X_DASHED, false},
        {"x-rate-limit-reset", KIND_X_DASHED, true},
    };

    if (strcmp(name, "ratelimit") == 0)
        read_list(value, &fields->words[KIND_IETF]);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(name, known[i].name) == 0) {
            takt_caller_vendor_word *word = &fields->words[known[i].kind];
            *(known[i].reset ? &word->reset : &word->remaining) = read_whole(value);
        }
}

/* Seconds from the answer to the reset. */
static int64_t until(int64_t reset, int64_t answered_at_s)
{
    if (reset >= EPOCH_MS)
        reset = (reset + 999) / 1000;
    if (reset < EPOCH_MIN)
        return reset;
    return reset > answered_at_s ? reset - answered_at_s : 0;
}

void takt_caller_vendor_fields_tell(const takt_caller_vendor_fields *fields, int64_t answered_at_s,
                                    takt_caller_vendor_word *word)
{
    *word = (takt_caller_vendor_word){VENDOR_UNSAID, VENDOR_UNSAID};
    for (int i = 0; i < VENDOR_KINDS; i++) {
        takt_caller_vendor_word one = fields->words[i];
        if (one.reset != VENDOR_UNSAID)
            one.reset = until(one.reset, answered_at_s);
        keep_min(word, &one);
    }
}
