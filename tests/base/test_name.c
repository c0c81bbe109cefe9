/*
 * Which names limits and namespaces may have, and what a refusal says.
 */
#include "base/name.h"

#include <criterion/criterion.h>
#include <string.h>

Test(name, of_limits)
{
    static const struct {
        const char *name;
        int code;
    } rows[] = {
        {"a", 0},
        {"Az09._-", 0},
        {"0123456789012345678901234567890123456789012345678901234567890123", 0},
        {"01234567890123456789012345678901234567890123456789012345678901234", TAKT_E_INVALID},
        {"", TAKT_E_INVALID},
        {" ", TAKT_E_INVALID},
        {"a/b", TAKT_E_INVALID},
        {"a:b", TAKT_E_INVALID},
        {"a{b", TAKT_E_INVALID},
        {"a\nb", TAKT_E_INVALID},
        {"\xc3\xa9", TAKT_E_INVALID},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_eq(takt_name_check(rows[i].name, NULL), rows[i].code, "row %zu", i);
}

Test(name, of_namespaces)
{
    static const struct {
        const char *name;
        int code;
        const char *words; /* of the refusal */
    } rows[] = {
        {"mail", 0, ""},
        {"{mail}", 0, ""},
        {"{}", TAKT_E_INVALID, "is empty"},
        {"{", TAKT_E_INVALID, "has a brace at one end"},
        {"}", TAKT_E_INVALID, "has a brace at one end"},
        {"{mail", TAKT_E_INVALID, "has a brace at one end"},
        {"mail}", TAKT_E_INVALID, "has a brace at one end"},
        {"{{mail}}", TAKT_E_INVALID, "a name is made of"},
        {"ma{il}s", TAKT_E_INVALID, "a name is made of"},
        {"{a b}", TAKT_E_INVALID, "a name is made of"},
        {"", TAKT_E_INVALID, "is empty"},
        {"{01234567890123456789012345678901234567890123456789012345678901}", 0, ""},
        {"{012345678901234567890123456789012345678901234567890123456789012}", TAKT_E_INVALID,
         "a name is made of"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        takt_error error = {0};
        cr_expect_eq(takt_name_space_check(rows[i].name, &error), rows[i].code, "row %zu", i);
        cr_expect_not_null(strstr(error.text, rows[i].words), "row %zu: %s", i, error.text);
        cr_expect_eq(error.code, rows[i].code, "row %zu", i);
    }
}
