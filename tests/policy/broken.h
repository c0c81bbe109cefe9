/*
 * Tables of policies that are refused: the text, the line in the message, and words of the message.
 */
#ifndef TAKT_TESTS_POLICY_BROKEN_H
#define TAKT_TESTS_POLICY_BROKEN_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <takt/policy.h>

typedef struct broken {
    const char *text;
    size_t line;
    const char *words;
} broken;

/* A limit that is as it should be, with no others before it: three lines. */
#define LIMIT "limits:\n  - name: a\n    rules: [{rate: 5/s}]\n"

/* The message must begin with "takt.yaml:LINE: " and the words. */
static inline void check_broken(const broken *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char expected[TAKT_ERROR_TEXT_SIZE];
        takt_error error = {0};
        takt_policy *policy = NULL;
        int code =
            takt_policy_parse(&policy, "takt.yaml", rows[i].text, strlen(rows[i].text), &error);
        snprintf(expected, sizeof expected, "takt.yaml:%zu: %s", rows[i].line, rows[i].words);
        cr_expect_eq(code, TAKT_E_POLICY, "row %zu was taken:\n%s", i, rows[i].text);
        cr_expect_eq(error.code, TAKT_E_POLICY, "row %zu", i);
        cr_expect_null(policy, "row %zu touched the output", i);
        cr_expect_eq(strncmp(error.text, expected, strlen(expected)), 0,
                     "row %zu\n said %s\n not  %s", i, error.text, expected);
        takt_policy_free(policy);
    }
}

#endif
