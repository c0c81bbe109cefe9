/*
 * vendor_fields.c: see vendor_fields.h.
 */
#include "vendor_fields.h"

#include <stddef.h>
#include <string.h>

#define SECOND_US INT64_C(1000000)

/* Kinds of fields: of `learn: headers`, ... */
enum { IETF, IETF_FIRST, X, X_DASHED, HEADERS_KINDS };
/* ... of a vendor that counts several units, and of one that counts one. */
enum { REQUESTS, TOKENS, INPUT, OUTPUT };
enum { ONE };

static const struct {
    takt_learn learn;
    const char *name;
    int kind;
    bool is_reset;
} known[] = {
    {TAKT_LEARN_HEADERS, "ratelimit-remaining", IETF_FIRST, false},
    {TAKT_LEARN_HEADERS, "ratelimit-reset", IETF_FIRST, true},
    {TAKT_LEARN_HEADERS, "x-ratelimit-remaining", X, false},
    {TAKT_LEARN_HEADERS, "x-ratelimit-reset", X, true},
    {TAKT_LEARN_HEADERS, "x-rate-limit-remaining", X_DASHED, false},
    {TAKT_LEARN_HEADERS, "x-rate-limit-reset", X_DASHED, true},
    {TAKT_LEARN_OPENAI, "x-ratelimit-remaining-requests", REQUESTS, false},
    {TAKT_LEARN_OPENAI, "x-ratelimit-reset-requests", REQUESTS, true},
    {TAKT_LEARN_OPENAI, "x-ratelimit-remaining-tokens", TOKENS, false},
    {TAKT_LEARN_OPENAI, "x-ratelimit-reset-tokens", TOKENS, true},
    {TAKT_LEARN_ANTHROPIC, "anthropic-ratelimit-requests-remaining", REQUESTS, false},
    {TAKT_LEARN_ANTHROPIC, "anthropic-ratelimit-requests-reset", REQUESTS, true},
    {TAKT_LEARN_ANTHROPIC, "anthropic-ratelimit-tokens-remaining", TOKENS, false},
    {TAKT_LEARN_ANTHROPIC, "anthropic-ratelimit-tokens-reset", TOKENS, true},
    {TAKT_LEARN_ANTHROPIC, "anthropic-ratelimit-input-tokens-remaining", INPUT, false},
    {TAKT_LEARN_ANTHROPIC, "anthropic-ratelimit-input-tokens-reset", INPUT, true},
    {TAKT_LEARN_ANTHROPIC, "anthropic-ratelimit-output-tokens-remaining", OUTPUT, false},
    {TAKT_LEARN_ANTHROPIC, "anthropic-ratelimit-output-tokens-reset", OUTPUT, true},
    {TAKT_LEARN_GITHUB, "x-ratelimit-remaining", ONE, false},
    {TAKT_LEARN_GITHUB, "x-ratelimit-reset", ONE, true},
    {TAKT_LEARN_SHOPIFY, "x-shopify-shop-api-call-limit", ONE, false},
    {TAKT_LEARN_DISCORD, "x-ratelimit-remaining", ONE, false},
    {TAKT_LEARN_DISCORD, "x-ratelimit-reset-after", ONE, true},
};

static const char *const unit_names[] = {"requests", "tokens", "input_tokens", "output_tokens"};

/* ---- RateLimit of the IETF's draft ------------------------------------------------------------
 */

typedef struct item {
    int64_t remaining, reset; /* in seconds */
} item;

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
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
    int64_t read, millionths;

    if (*at != '=')
        return at;
    const char *end = ++at;
    if (takt_caller_vendor_number(&end, &read, &millionths) && strchr(" \t;,", *end)) {
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
static const char *read_parameters(const char *at, item *read)
{
    while (*(at = skip_blanks(at)) == ';') {
        const char *key = skip_blanks(at + 1);
        const char *end = key + strcspn(key, " \t;,=\"");
        int64_t number = VENDOR_UNSAID;
        at = read_value(end, &number);
        if (is_word(key, (size_t)(end - key), "r"))
            read->remaining = number;
        else if (is_word(key, (size_t)(end - key), "t"))
            read->reset = number;
    }
    return at;
}

/* Keeps the one with fewer tokens left; of equals, the later reset. */
static void keep_min(item *kept, const item *other)
{
    if (other->remaining == VENDOR_UNSAID)
        return;
    if (kept->remaining == VENDOR_UNSAID || other->remaining < kept->remaining ||
        (other->remaining == kept->remaining && other->reset > kept->reset))
        *kept = *other;
}

/* Reads a list of items with parameters, or a dictionary. */
static item read_list(const char *at)
{
    item listed = {VENDOR_UNSAID, VENDOR_UNSAID}, least = listed;

    for (at = skip_blanks(at); *at; at = skip_blanks(at)) {
        item one = {VENDOR_UNSAID, VENDOR_UNSAID};
        int64_t number = VENDOR_UNSAID;
        const char *name = at, *end = skip_bare(at);
        at = read_parameters(read_value(end, &number), &one);
        if (is_word(name, (size_t)(end - name), "remaining"))
            listed.remaining = number;
        else if (is_word(name, (size_t)(end - name), "reset"))
            listed.reset = number;
        keep_min(&least, &one);
        at += strcspn(at, ","); /* skip parts that are unknown here */
        at += *at == ',';
    }
    keep_min(&least, &listed);
    return least;
}

static void read_ietf(takt_caller_vendor_fields *fields, const char *value)
{
    item before = {fields->counts[IETF], VENDOR_UNSAID}, read = read_list(value);

    if (fields->resets[IETF].us != VENDOR_UNSAID)
        before.reset = fields->resets[IETF].us / SECOND_US;
    keep_min(&before, &read);
    fields->counts[IETF] = before.remaining;
    if (before.reset == VENDOR_UNSAID)
        fields->resets[IETF].us = VENDOR_UNSAID;
    else
        fields->resets[IETF] = takt_caller_vendor_seconds(before.reset, 0);
}

/* ---- all fields -------------------------------------------------------------------------------
 */

static void copy(char *to, size_t size, const char *text)
{
    if (text && strlen(text) < size)
        strcpy(to, text);
}

void takt_caller_vendor_fields_open(takt_caller_vendor_fields *fields, const takt_policy *policy,
                                    const char *limit)
{
    *fields = (takt_caller_vendor_fields){.learn = TAKT_LEARN_OFF};
    takt_caller_vendor_fields_begin(fields);
    if (takt_policy_learn(policy, limit, &fields->learn) != 0 || fields->learn != TAKT_LEARN_FIELDS)
        return;
    copy(fields->remaining, sizeof(fields->remaining),
         takt_policy_learn_field(policy, limit, "remaining"));
    copy(fields->reset, sizeof(fields->reset), takt_policy_learn_field(policy, limit, "reset"));
    copy(fields->unit, sizeof(fields->unit), takt_policy_learn_field(policy, limit, "unit"));
}

void takt_caller_vendor_fields_begin(takt_caller_vendor_fields *fields)
{
    for (int i = 0; i < VENDOR_WORDS_MAX; i++) {
        fields->counts[i] = VENDOR_UNSAID;
        fields->resets[i].us = VENDOR_UNSAID;
    }
}

static void read_one(takt_caller_vendor_fields *fields, int kind, bool is_reset, const char *value)
{
    if (is_reset && !takt_caller_vendor_reset(value, &fields->resets[kind]))
        fields->resets[kind].us = VENDOR_UNSAID;
    if (!is_reset && !takt_caller_vendor_count(value, &fields->counts[kind]))
        fields->counts[kind] = VENDOR_UNSAID;
}

void takt_caller_vendor_fields_read(takt_caller_vendor_fields *fields, const char *name,
                                    const char *value)
{
    if (fields->learn == TAKT_LEARN_HEADERS && strcmp(name, "ratelimit") == 0)
        read_ietf(fields, value);
    if (fields->learn == TAKT_LEARN_FIELDS && strcmp(name, fields->remaining) == 0)
        read_one(fields, ONE, false, value);
    if (fields->learn == TAKT_LEARN_FIELDS && strcmp(name, fields->reset) == 0)
        read_one(fields, ONE, true, value);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].learn == fields->learn && strcmp(name, known[i].name) == 0)
            read_one(fields, known[i].kind, known[i].is_reset, value);
}

/* Time from the answer to the reset. */
static int64_t until(takt_caller_reset reset, int64_t answered_at_s)
{
    if (!reset.is_instant || reset.us == VENDOR_UNSAID)
        return reset.us;
    return reset.us / SECOND_US > answered_at_s ? reset.us - answered_at_s * SECOND_US : 0;
}

/* Several units: those of a vendor that counts by the minute, and fills its buckets all the time.
 */
static bool has_units(takt_learn learn)
{
    return learn == TAKT_LEARN_OPENAI || learn == TAKT_LEARN_ANTHROPIC;
}

int takt_caller_vendor_fields_tell(const takt_caller_vendor_fields *fields, int64_t answered_at_s,
                                   takt_caller_vendor_word words[VENDOR_WORDS_MAX])
{
    int count = 0, kinds = has_units(fields->learn) ? OUTPUT + 1 : HEADERS_KINDS;

    for (int i = 0; i < kinds; i++) {
        takt_caller_vendor_word word = {fields->unit[0] ? fields->unit : NULL, fields->counts[i],
                                        until(fields->resets[i], answered_at_s),
                                        has_units(fields->learn)};
        if (word.remaining == VENDOR_UNSAID)
            continue;
        if (word.trickles)
            word.unit = unit_names[i];
        if (word.trickles || count == 0)
            words[count++] = word;
        else if (word.remaining < words[0].remaining ||
                 (word.remaining == words[0].remaining && word.reset_us > words[0].reset_us))
            words[0] = word;
    }
    return count;
}
