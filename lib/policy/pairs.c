/*
 * pairs.c: see pairs.h.
 */
#include "policy/pairs.h"

#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "base/quote.h"
#include "policy/field.h"

#define BLANKS " \t"

/* Cuts blanks from both ends. */
static char *trim(char *text)
{
    text += strspn(text, BLANKS);
    size_t size = strlen(text);
    while (size > 0 && strchr(BLANKS, text[size - 1]) != NULL)
        size--;
    text[size] = '\0';
    return text;
}

/* Takes the quotes from the text that begins with one. Returns what follows the closing quote;
 * NULL: there is none. */
static char *unquote(char *text)
{
    char quote = *text, *to = text;
    for (char *from = text + 1; *from != '\0'; from++) {
        if (*from == quote && *++from != quote) {
            *to = '\0';
            return from;
        }
        *to++ = *from;
    }
    return NULL;
}

/* Ends the name, and the blanks around it. Returns its value; "": there is none. NULL: its quote is
 * not closed. */
static char *split(char **name)
{
    *name += strspn(*name, BLANKS);
    bool is_quoted = **name == '"' || **name == '\'';
    char *rest = is_quoted ? unquote(*name) : *name;
    if (rest == NULL)
        return NULL;
    char *colon = strstr(rest, ": ");
    char *value = colon != NULL ? trim(colon + 2) : rest + strlen(rest);
    if (is_quoted)
        return colon == rest + strspn(rest, BLANKS) ? value : rest + strlen(rest);
    if (colon != NULL)
        *colon = '\0';
    *name = trim(*name);
    return value;
}

/* Reads "NAME: VALUE". */
static int read_pair(const char *field, char *text, int max, takt_pairs *pairs, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE], *name = text;
    takt_quote(text, quoted);
    const char *value = split(&name);
    if (value == NULL)
        return takt_fail(error, TAKT_E_POLICY, "%s: %s has no closing quote; write {'NAME': VALUE}",
                         field, quoted);
    if (*name == '\0' && *value == '\0')
        return takt_fail(error, TAKT_E_POLICY,
                         "%s: an entry is empty; write {NAME: VALUE, NAME: VALUE}, or leave the "
                         "field out",
                         field);
    if (*name == '\0' || *value == '\0')
        return takt_fail(error, TAKT_E_POLICY,
                         "%s: %s has no name or no value; write {NAME: VALUE, NAME: VALUE}", field,
                         takt_quote(name, quoted));
    for (int i = 0; i < pairs->count; i++)
        if (strcmp(pairs->pairs[i].name, name) == 0)
            return takt_fail(error, TAKT_E_POLICY, "%s: %s is repeated; write it once", field,
                             takt_quote(name, quoted));
    if (pairs->count == max)
        return takt_fail(error, TAKT_E_POLICY, "%s: has more than %d entries; write fewer", field,
                         max);
    pairs->pairs[pairs->count++] = (takt_pair){name, value};
    return 0;
}

int takt_pairs_read(const char *field, const char *text, int max, takt_pairs *pairs,
                    takt_error *error)
{
    size_t size = strlen(text);
    pairs->count = 0;
    if (size >= sizeof pairs->text)
        return takt_fail(error, TAKT_E_POLICY, "%s: has %zu bytes; write at most %d", field, size,
                         TAKT_PAIRS_TEXT_SIZE - 1);
    memcpy(pairs->text, text, size + 1);
    char *at = trim(pairs->text);
    size = strlen(at);
    if (size < 2 || at[0] != '{' || at[size - 1] != '}' || strcspn(at + 1, "{}") != size - 2)
        return takt_fail(error, TAKT_E_POLICY,
                         "%s: write {NAME: VALUE, NAME: VALUE}, without commas and braces in the "
                         "values",
                         field);
    at[size - 1] = '\0';
    at++;
    for (char *next; at != NULL; at = next) {
        next = strchr(at, ',');
        if (next != NULL)
            *next++ = '\0';
        int code = read_pair(field, at, max, pairs, error);
        if (code != 0)
            return code;
    }
    return 0;
}

void takt_pairs_quote(const char *name, char *text, size_t size)
{
    takt_field_append(text, size, "'");
    for (const char *quote; (quote = strchr(name, '\'')) != NULL; name = quote + 1)
        takt_field_append(text, size, "%.*s''", (int)(quote - name), name);
    takt_field_append(text, size, "%s'", name);
}
