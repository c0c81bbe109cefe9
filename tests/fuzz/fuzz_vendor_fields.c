/*
 * Any text as each of the header fields about a vendor's quota, for each vendor: the result is
 * within bounds, or there is none.
 */
#include "fuzz.h"

#include <takt/policy.h>

#include "call/vendor_fields.h"

#define NOW       INT64_C(1763692800)
#define RESET_MAX INT64_C(1000000000000000000) /* us; the longest number times a thousand */

static takt_caller_vendor_fields fields_of(takt_learn learn)
{
    takt_caller_vendor_fields fields = {
        .learn = learn, .remaining = "x-left", .reset = "x-reset", .unit = "tokens"};

    takt_caller_vendor_fields_begin(&fields);
    return fields;
}

static void check(takt_learn learn, const char *name, const char *value, const char *other)
{
    takt_caller_vendor_fields fields = fields_of(learn);
    takt_caller_vendor_word words[VENDOR_WORDS_MAX];
    int count;

    takt_caller_vendor_fields_read(&fields, name, value);
    takt_caller_vendor_fields_read(&fields, other, "7");
    count = takt_caller_vendor_fields_tell(&fields, NOW, words);
    require(count >= 1 && count <= VENDOR_WORDS_MAX); /* the remaining count is always known */
    for (int i = 0; i < count; i++) {
        require(words[i].remaining >= 0 && words[i].remaining <= VENDOR_NUMBER_MAX);
        require(words[i].reset_us >= VENDOR_UNSAID && words[i].reset_us <= RESET_MAX);
    }
}

static void check_text(const char *text)
{
    takt_caller_reset reset;
    int64_t count;

    if (takt_caller_vendor_reset(text, &reset))
        require(reset.us >= 0 && reset.us <= RESET_MAX);
    if (takt_caller_vendor_count(text, &count))
        require(count >= 0 && count <= VENDOR_NUMBER_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        takt_learn learn;
        const char *name, *other;
    } fields[] = {
        {TAKT_LEARN_HEADERS, "ratelimit", "x-ratelimit-remaining"},
        {TAKT_LEARN_HEADERS, "ratelimit-remaining", "x-ratelimit-remaining"},
        {TAKT_LEARN_HEADERS, "x-ratelimit-reset", "x-ratelimit-remaining"},
        {TAKT_LEARN_OPENAI, "x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"},
        {TAKT_LEARN_ANTHROPIC, "anthropic-ratelimit-requests-reset",
         "anthropic-ratelimit-requests-remaining"},
        {TAKT_LEARN_SHOPIFY, "x-left", "x-shopify-shop-api-call-limit"},
        {TAKT_LEARN_FIELDS, "x-reset", "x-left"},
    };
    char *text = fuzz_copy(data, size);

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        check(fields[i].learn, fields[i].name, text, fields[i].other);
    check_text(text);
    free(text);
    return 0;
}
