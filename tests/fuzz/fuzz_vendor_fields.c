/*
 * Any text as each of the header fields about a vendor's quota: the result is a number within
 * bounds, or nothing.
 */
#include "fuzz.h"

#include "call/vendor_fields.h"

#define NOW INT64_C(1763692800)

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
    char *text = fuzz_copy(data, size);

    for (size_t i = 0; i < 3; i++)
        check(names[i], text);
    free(text);
    return 0;
}
