/*
 * Errors that fit are written whole; longer ones are cut at their end, between characters.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/fail.h"

#define TEXT_MAX (TAKT_ERROR_TEXT_SIZE - 1)

Test(fail, fills_code_and_text_and_returns_the_code)
{
    takt_error error = {0};
    cr_assert_eq(takt_fail(&error, TAKT_E_POLICY, "rate: %d tokens", 7), TAKT_E_POLICY);
    cr_assert_eq(error.code, TAKT_E_POLICY);
    cr_assert_str_eq(error.text, "rate: 7 tokens");
}

Test(fail, nobody_need_ask_for_the_text)
{
    cr_assert_eq(takt_fail(NULL, TAKT_E_STORE, "%s", "unheard"), TAKT_E_STORE);
    takt_fail_prefix(NULL, "%s", "unheard");
}

Test(fail, puts_a_prefix_before_what_is_there)
{
    takt_error error = {0};
    takt_fail(&error, TAKT_E_POLICY, "rate: missing");
    takt_fail_prefix(&error, "rules[%d].", 3);
    takt_fail_prefix(&error, "%s:%d: ", "takt.yaml", 7);
    cr_assert_str_eq(error.text, "takt.yaml:7: rules[3].rate: missing");
    cr_assert_eq(error.code, TAKT_E_POLICY);
}

Test(fail, arguments_may_be_the_text_itself)
{
    takt_error error = {0};
    takt_fail(&error, TAKT_E_POLICY, "inner");
    takt_fail(&error, TAKT_E_STORE, "outer (%s)", error.text);
    cr_assert_str_eq(error.text, "outer (inner)");
    takt_fail_prefix(&error, "%s, ", error.text);
    cr_assert_str_eq(error.text, "outer (inner), outer (inner)");
}

Test(fail, cuts_the_end_of_a_long_text_between_characters)
{
    static const struct {
        const char *character;
        size_t size;
    } rows[] = {{"x", 1}, {"\xc3\xa9", 2}, {"\xe2\x82\xac", 3}, {"\xf0\x9f\x98\x80", 4}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (size_t lead = 0; lead < 8; lead++) {
            char longer[2 * TAKT_ERROR_TEXT_SIZE] = "";
            takt_error error = {0};
            memset(longer, '-', lead);
            for (size_t at = lead; at + rows[row].size < sizeof longer; at += rows[row].size)
                memcpy(longer + at, rows[row].character, rows[row].size);
            size_t whole = lead + (TEXT_MAX - lead) / rows[row].size * rows[row].size;

            takt_fail(&error, TAKT_E_POLICY, "%s", longer);
            cr_assert_eq(strlen(error.text), whole, "row %zu, lead %zu", row, lead);
            cr_assert_eq(memcmp(error.text, longer, whole), 0);

            takt_fail(&error, TAKT_E_POLICY, "%s", longer + lead);
            takt_fail_prefix(&error, "%.*s", (int)lead, longer);
            cr_assert_eq(strlen(error.text), whole, "row %zu, lead %zu, in two parts", row, lead);
        }
    }
}

Test(fail, a_prefix_as_long_as_everything_leaves_itself)
{
    char longer[2 * TAKT_ERROR_TEXT_SIZE];
    takt_error error = {0};
    memset(longer, 'p', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    takt_fail(&error, TAKT_E_POLICY, "rest");
    takt_fail_prefix(&error, "%s", longer);
    cr_assert_eq(strlen(error.text), TEXT_MAX);
    cr_assert_eq(error.text[TEXT_MAX - 1], 'p');
}
