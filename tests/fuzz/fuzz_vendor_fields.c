/*
 * Any text as each of the fields by which vendors tell what is left: what is read is a number that
 * can be gone by, or nothing.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "call/vendor_fields.h"

#define NOW INT64_C(1763692800)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *name, const char *value)
{
    takt_caller_vendor_fields fields;
    takt_caller_vendor_word word;

    takt_caller_vendor_fields_begin(&fields);
    takt_caller_vendor_fields_read(&fields, name, value);
    takt_caller_vendor_fields_read(&fields, "x-ratelimit-remaining", "7");
    takt_caller_vendor_fields_tell(&fields, NOW, &word);
    if (word.remaining < 0 || word.remaining > 1000000000000000 || word.reset < VENDOR_UNSAID ||
        word.reset > 1000000000000000)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"ratelimit", "ratelimit-remaining", "x-ratelimit-reset"};
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    for (size_t i = 0; i < 3; i++)
        check(names[i], text);
    free(text);
    return 0;
}
