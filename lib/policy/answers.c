/*
 * answers.c: see answers.h.
 */
#include "policy/answers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/quote.h"
#include "policy/field.h"
#include "policy/pairs.h"
#include "policy/unit_text.h"

static const char *const learn_names[] = {
    [TAKT_LEARN_OFF] = "off",         [TAKT_LEARN_HEADERS] = "headers",
    [TAKT_LEARN_OPENAI] = "openai",   [TAKT_LEARN_ANTHROPIC] = "anthropic",
    [TAKT_LEARN_GITHUB] = "github",   [TAKT_LEARN_SHOPIFY] = "shopify",
    [TAKT_LEARN_DISCORD] = "discord",
};
#define LEARN_COUNT (sizeof learn_names / sizeof learn_names[0])

/* Where vendors state what a request has used. Of several pointers for one unit the first that an
 * answer has counts: the forms of an API differ. */
static const struct {
    const char *vendor, *unit, *pointer;
} known_pointers[] = {
    {"openai", "tokens", "/usage/total_tokens"},
    {"openai", "tokens", "/response/usage/total_tokens"},
    {"openai", "input_tokens", "/usage/prompt_tokens"},
    {"openai", "input_tokens", "/usage/input_tokens"},
    {"openai", "input_tokens", "/response/usage/input_tokens"},
    {"openai", "output_tokens", "/usage/completion_tokens"},
    {"openai", "output_tokens", "/usage/output_tokens"},
    {"openai", "output_tokens", "/response/usage/output_tokens"},
    {"anthropic", "input_tokens", "/usage/input_tokens"},
    {"anthropic", "input_tokens", "/message/usage/input_tokens"},
    {"anthropic", "output_tokens", "/usage/output_tokens"},
};
#define KNOWN_COUNT (sizeof known_pointers / sizeof known_pointers[0])

static const char *const settle_names[] = {"openai", "anthropic"};
#define SETTLE_COUNT (sizeof settle_names / sizeof settle_names[0])

const char *takt_learn_name(takt_learn learn)
{
    return learn == TAKT_LEARN_FIELDS    ? "fields"
           : (size_t)learn < LEARN_COUNT ? learn_names[learn]
                                         : "unknown";
}

int takt_learn_read(const char *text, takt_learn *learn, takt_error *error)
{
    size_t word = TAKT_LEARN_OFF;
    if (text != NULL && text[0] == '{') {
        *learn = TAKT_LEARN_FIELDS;
        return 0;
    }
    int code = text == NULL
                   ? 0
                   : takt_field_read_word("learn", text, learn_names, LEARN_COUNT, &word, error);
    if (code == 0)
        *learn = (takt_learn)word;
    return code;
}

/* ---- learn ----------------------------------------------------------------------------------- */

/* Whether a rule of the text counts the unit. */
static bool is_counted(const takt_limit_text *text, const char *unit)
{
    for (unsigned i = 0; i < text->rule_count; i++)
        if (text->rules[i].counts != NULL && strcmp(text->rules[i].counts, unit) == 0)
            return true;
    return false;
}

/* Reads a header's name, which is a token (RFC 9110), in lower case. */
static int read_header(const takt_pair *pair, char name[TAKT_HEADER_SIZE_MAX + 1],
                       takt_error *error)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";
    char quoted[TAKT_QUOTE_SIZE];
    size_t size = strlen(pair->value);
    if (strspn(pair->value, allowed) != size || size > TAKT_HEADER_SIZE_MAX)
        return takt_fail(error, TAKT_E_POLICY,
                         "learn: %s: %s is not a header's name; write letters, digits and -, at "
                         "most %d, like X-RateLimit-Remaining",
                         pair->name, takt_quote(pair->value, quoted), TAKT_HEADER_SIZE_MAX);
    for (size_t i = 0; i <= size; i++)
        name[i] = (char)(pair->value[i] >= 'A' && pair->value[i] <= 'Z' ? pair->value[i] + 32
                                                                        : pair->value[i]);
    return 0;
}

static int read_unit(const takt_limit_text *text, const takt_pair *pair,
                     char unit[TAKT_UNIT_SIZE_MAX + 1], takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    if (!is_counted(text, pair->value) || strlen(pair->value) > TAKT_UNIT_SIZE_MAX)
        return takt_fail(error, TAKT_E_POLICY,
                         "learn: unit: no rule counts %s; write the unit of a rule's counts, or "
                         "leave it out",
                         takt_quote(pair->value, quoted));
    strcpy(unit, pair->value);
    return 0;
}

static int read_fields(const takt_limit_text *text, struct takt_answers *answers, takt_error *error)
{
    static const char *const names[] = {"remaining", "reset", "unit"};
    takt_pairs pairs;
    int code = takt_pairs_read("learn", text->learn, TAKT_AMOUNTS_MAX, &pairs, error);
    for (int i = 0; code == 0 && i < pairs.count; i++) {
        const takt_pair *pair = &pairs.pairs[i];
        size_t name = 0;
        code = takt_field_read_word("learn", pair->name, names, 3, &name, error);
        if (code == 0 && name == 2)
            code = read_unit(text, pair, answers->unit, error);
        else if (code == 0)
            code = read_header(pair, name == 0 ? answers->remaining : answers->reset, error);
    }
    if (code == 0 && answers->remaining[0] == '\0')
        return takt_fail(error, TAKT_E_POLICY,
                         "learn: has no remaining; write the header that says what is left, like "
                         "{remaining: X-RateLimit-Remaining}");
    return code;
}

/* A vendor that reports by unit is of no use to a limit that counts none of these units. */
static int check_learn(const takt_limit_text *text, takt_learn learn, takt_error *error)
{
    if ((learn != TAKT_LEARN_OPENAI && learn != TAKT_LEARN_ANTHROPIC) ||
        is_counted(text, "requests") || is_counted(text, "tokens") ||
        (learn == TAKT_LEARN_ANTHROPIC &&
         (is_counted(text, "input_tokens") || is_counted(text, "output_tokens"))))
        return 0;
    return takt_fail(error, TAKT_E_POLICY,
                     "learn: %s says what is left of requests and tokens%s, which no rule counts; "
                     "write counts: requests or counts: tokens in a rule",
                     takt_learn_name(learn),
                     learn == TAKT_LEARN_ANTHROPIC ? ", input_tokens and output_tokens" : "");
}

/* Whether the vendor of a preset states what is left of each unit, and of this one. */
static bool states(takt_learn learn, const char *unit)
{
    return strcmp(unit, "requests") == 0 || strcmp(unit, "tokens") == 0 ||
           (learn == TAKT_LEARN_ANTHROPIC &&
            (strcmp(unit, "input_tokens") == 0 || strcmp(unit, "output_tokens") == 0));
}

takt_learn takt_answers_learn(const takt_limit *limit, const char *unit)
{
    const char *stated = takt_unit_is_counted(limit, "requests") ? "requests" : limit->unit;

    if (limit->learn == TAKT_LEARN_OFF)
        return TAKT_LEARN_OFF;
    if (limit->learn == TAKT_LEARN_OPENAI || limit->learn == TAKT_LEARN_ANTHROPIC)
        return states(limit->learn, unit) ? limit->learn : TAKT_LEARN_OFF;
    if (limit->learn == TAKT_LEARN_FIELDS && limit->answers->unit[0] != '\0')
        stated = limit->answers->unit;
    return strcmp(unit, stated) == 0 ? limit->learn : TAKT_LEARN_OFF;
}

/* ---- settle ---------------------------------------------------------------------------------- */

static int read_pointer(const char *unit, const char *text, char *pointer, takt_error *error)
{
    const char *at = strchr(text, '~');
    while (at != NULL && (at[1] == '0' || at[1] == '1'))
        at = strchr(at + 1, '~');
    const char *wrong =
        text[0] != '/' ? "must be a JSON pointer; begin it with a slash, like /usage/total_tokens"
        : strlen(text) > TAKT_POINTER_SIZE_MAX ? "has more than 255 bytes; write a shorter one"
        : at != NULL ? "has a ~ without 0 or 1 behind it; write ~0 for a tilde and ~1 for a slash "
                       "inside a name"
                     : NULL;
    if (wrong != NULL)
        return takt_fail(error, TAKT_E_POLICY, "settle: %s%s%s", unit, unit[0] != '\0' ? ": " : "",
                         wrong);
    strcpy(pointer, text);
    return 0;
}

static int read_pointers(const char *text, struct takt_answers *answers, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    takt_pairs pairs;
    int code = takt_pairs_read("settle", text, TAKT_AMOUNTS_MAX, &pairs, error);
    for (int i = 0; code == 0 && i < pairs.count; i++) {
        const takt_pair *pair = &pairs.pairs[i];
        if (!takt_unit_is_name(pair->name) || strcmp(pair->name, "requests") == 0)
            return takt_fail(error, TAKT_E_POLICY,
                             "settle: %s is not a unit that an answer states; write the unit of a "
                             "rule's counts, like {tokens: /usage/total_tokens}",
                             takt_quote(pair->name, quoted));
        strcpy(answers->pointers[i].unit, pair->name);
        code = read_pointer(pair->name, pair->value, answers->pointers[i].pointer, error);
    }
    answers->pointer_count = code == 0 ? pairs.count : 0;
    return code;
}

static int read_settle(const char *text, struct takt_answers *answers, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    if (text == NULL)
        return 0;
    if (text[0] == '{')
        return read_pointers(text, answers, error);
    for (size_t i = 0; i < SETTLE_COUNT; i++)
        if (strcmp(text, settle_names[i]) == 0)
            answers->vendor = settle_names[i];
    if (answers->vendor != NULL)
        return 0;
    if (text[0] != '/')
        return takt_fail(error, TAKT_E_POLICY,
                         "settle: %s: write a JSON pointer, which begins with a slash, like "
                         "/usage/total_tokens; or openai or anthropic",
                         takt_quote(text, quoted));
    answers->pointer_count = 1;
    return read_pointer("", text, answers->pointers[0].pointer, error);
}

/* Whether the limit, or one that it is within, counts the unit. */
static bool level_counts(const takt_limit *limit, const char *unit)
{
    for (; limit != NULL; limit = limit->within)
        if (takt_unit_is_counted(limit, unit))
            return true;
    return false;
}

int takt_answers_check(const takt_limit *limit, takt_error *error)
{
    const struct takt_answers *answers = limit->answers;
    const char *unit, *pointer;
    if (answers == NULL)
        return 0;
    for (int i = 0; i < answers->pointer_count; i++)
        if (answers->pointers[i].unit[0] != '\0' && !level_counts(limit, answers->pointers[i].unit))
            return takt_fail(
                error, TAKT_E_POLICY,
                "settle: no rule counts %s; write the unit of a rule's counts, here or "
                "in a limit that this one is within",
                answers->pointers[i].unit);
    if (answers->vendor != NULL && takt_answers_pointer(limit, 0, &unit, &pointer) != 0)
        return takt_fail(
            error, TAKT_E_POLICY,
            "settle: %s states %sinput_tokens and output_tokens, which no rule counts; "
            "write counts with one of them in a rule, or a JSON pointer",
            answers->vendor, strcmp(answers->vendor, "openai") == 0 ? "tokens, " : "");
    return 0;
}

int takt_answers_pointer(const takt_limit *limit, size_t index, const char **unit,
                         const char **pointer)
{
    const struct takt_answers *answers = limit->answers;
    if (answers == NULL)
        return TAKT_E_NO_LIMIT;
    for (size_t i = 0; answers->vendor != NULL && i < KNOWN_COUNT; i++)
        if (strcmp(known_pointers[i].vendor, answers->vendor) == 0 &&
            level_counts(limit, known_pointers[i].unit) && index-- == 0) {
            *unit = known_pointers[i].unit;
            *pointer = known_pointers[i].pointer;
            return 0;
        }
    if (answers->vendor != NULL || index >= (size_t)answers->pointer_count)
        return TAKT_E_NO_LIMIT;
    const takt_unit_pointer *found = &answers->pointers[index];
    *unit = found->unit[0] != '\0' ? found->unit : NULL;
    *pointer = found->pointer;
    return 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

int takt_answers_read(const takt_limit_text *text, takt_limit *limit, takt_error *error)
{
    int code = check_learn(text, limit->learn, error);
    limit->answers = NULL;
    if (code != 0 || (limit->learn != TAKT_LEARN_FIELDS && text->settle == NULL))
        return code;
    struct takt_answers *read = calloc(1, sizeof *read);
    if (read == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    if (limit->learn == TAKT_LEARN_FIELDS)
        code = read_fields(text, read, error);
    if (code == 0)
        code = read_settle(text->settle, read, error);
    if (code != 0) {
        takt_answers_free(read);
        return code;
    }
    limit->answers = read;
    return 0;
}

void takt_answers_free(struct takt_answers *answers)
{
    free(answers);
}

static void describe_fields(const struct takt_answers *answers, char *text, size_t size)
{
    takt_field_append(text, size, ", learn {remaining: %s", answers->remaining);
    if (answers->reset[0] != '\0')
        takt_field_append(text, size, ", reset: %s", answers->reset);
    if (answers->unit[0] != '\0')
        takt_field_append(text, size, ", unit: %s", answers->unit);
    takt_field_append(text, size, "}");
}

void takt_answers_describe(const takt_limit *limit, char *text, size_t size)
{
    const struct takt_answers *answers = limit->answers;
    if (limit->learn == TAKT_LEARN_FIELDS && answers != NULL)
        describe_fields(answers, text, size);
    else if (limit->learn != TAKT_LEARN_OFF)
        takt_field_append(text, size, ", learn %s", takt_learn_name(limit->learn));
    if (answers == NULL || (answers->vendor == NULL && answers->pointer_count == 0))
        return;
    if (answers->vendor != NULL || answers->pointers[0].unit[0] == '\0') {
        takt_field_append(text, size, ", settle %s",
                          answers->vendor != NULL ? answers->vendor : answers->pointers[0].pointer);
        return;
    }
    for (int i = 0; i < answers->pointer_count; i++)
        takt_field_append(text, size, "%s%s: %s", i == 0 ? ", settle {" : ", ",
                          answers->pointers[i].unit, answers->pointers[i].pointer);
    takt_field_append(text, size, "}");
}
