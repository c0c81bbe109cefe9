/*
 * field.c: errors and numbers of fields (field.h). The callers decide the ranges.
 */
#include "policy/field.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "base/time_text.h"

int takt_field_refuse(const char *field, int code, takt_error *error)
{
    if (code == TAKT_E_NOMEM)
        return code;
    takt_fail_prefix(error, "%s: ", field);
    if (error != NULL)
        error->code = TAKT_E_POLICY;
    return TAKT_E_POLICY;
}

int takt_field_read_count(const char *field, const char *text, int64_t max, int64_t *value,
                          takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    int64_t read = 0;
    if (text == NULL)
        return 0;
    if (takt_parse_whole(text, max, &read) != 0 || read == 0)
        return takt_fail(error, TAKT_E_POLICY, "%s: %s: write a whole number from 1 to %" PRId64,
                         field, takt_quote(text, quoted), max);
    *value = read;
    return 0;
}

int takt_field_read_word(const char *field, const char *text, const char *const *words,
                         size_t count, size_t *word, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE], all[120] = "";
    takt_suggestion suggestion;
    takt_suggest_begin(&suggestion, text);
    for (*word = 0; *word < count; ++*word) {
        if (strcmp(text, words[*word]) == 0)
            return 0;
        takt_suggest_offer(&suggestion, words[*word]);
        takt_field_append(all, sizeof all, "%s%s",
                          *word == 0           ? ""
                          : *word + 1 == count ? " or "
                                               : ", ",
                          words[*word]);
    }
    takt_quote(text, quoted);
    if (suggestion.best != NULL)
        return takt_fail(error, TAKT_E_POLICY, "%s: there is no %s; did you mean \"%s\"?", field,
                         quoted, suggestion.best);
    return takt_fail(error, TAKT_E_POLICY, "%s: there is no %s; write %s", field, quoted, all);
}

void takt_field_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}
