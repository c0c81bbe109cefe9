/*
 * The reason of a block: which texts are allowed, and their encoding in the ledger's text.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "core/reason.h"

Test(reason, what_may_be_said)
{
    static char longest[TAKT_REASON_SIZE_MAX + 2];
    static const struct {
        const char *reason, *words; /* NULL: it may */
    } rows[] = {
        {NULL, NULL},
        {"", NULL},
        {"vendor said 429", NULL},
        {"W\xc3\xa4rmepumpe \xe2\x82\xac; 50%", NULL},
        {"two\nlines", "write one line of plain text"},
        {"\x1b[31mred", "write one line of plain text"},
        {"\x7f", "write one line of plain text"},
        {"\xc2\x85", "write one line of plain text"},
        {"\xff", "write it in UTF-8"},
        {"cut \xc3", "write it in UTF-8"},
    };
    takt_error error;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int code = takt_check_reason(rows[i].reason, &error);
        cr_expect_eq(code, rows[i].words ? TAKT_E_INVALID : 0, "row %zu", i);
        cr_expect(!rows[i].words || strstr(error.text, rows[i].words), "row %zu: %s", i,
                  error.text);
    }
    memset(longest, 'x', TAKT_REASON_SIZE_MAX);
    cr_expect_eq(takt_check_reason(longest, NULL), 0);
    longest[TAKT_REASON_SIZE_MAX] = 'x';
    cr_expect_eq(takt_check_reason(longest, &error), TAKT_E_INVALID);
    cr_expect(strstr(error.text, "at most 120 bytes"), "%s", error.text);
}

Test(reason, there_and_back)
{
    static char signs[TAKT_REASON_SIZE_MAX + 1];
    const char *rows[] = {"", "429", "a;b", "%", "100%25 off;", "w1,2;b3", "\xe2\x82\xac;", signs};

    memset(signs, ';', TAKT_REASON_SIZE_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TAKT_REASON_TEXT_MAX + 1], back[TAKT_REASON_SIZE_MAX + 1];
        size_t size = takt_reason_write(rows[i], text);
        cr_expect_eq(strlen(text), size);
        cr_expect_null(strchr(text, ';'), "%s", text);
        takt_reason_read(text, size, back);
        cr_expect_str_eq(back, rows[i]);
    }
    char text[TAKT_REASON_TEXT_MAX + 1];
    cr_expect_eq(takt_reason_write(NULL, text), 0);
}

/* A text that somebody else has written. */
Test(reason, what_cannot_be_one_is_none)
{
    static const char *const rows[] = {"\x1b[2J", "\xff\xfe", "a\nb"};
    char back[TAKT_REASON_SIZE_MAX + 1];
    char large[2 * TAKT_REASON_TEXT_MAX];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_reason_read(rows[i], strlen(rows[i]), back);
        cr_expect_str_eq(back, "", "row %zu", i);
    }
    memset(large, 'x', sizeof large);
    takt_reason_read(large, sizeof large, back);
    cr_expect_eq(strlen(back), TAKT_REASON_SIZE_MAX);
    takt_reason_read("%", 1, back);
    cr_expect_str_eq(back, "%");
}
