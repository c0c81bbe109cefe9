/*
 * Every code has a name and a sentence of its own, and other numbers have words too.
 */
#include <criterion/criterion.h>
#include <string.h>

#include <takt/error.h>

#define CODE_LAST TAKT_E_FORKED

Test(error, every_code_has_its_own_name_and_sentence)
{
    for (int code = 0; code >= CODE_LAST; code--) {
        cr_assert_str_neq(takt_error_name(code), "UNKNOWN", "code %d has no name", code);
        cr_assert_str_neq(takt_strerror(code), "unknown error", "code %d has no sentence", code);
        for (int other = code + 1; other <= 0; other++) {
            cr_assert_str_neq(takt_error_name(code), takt_error_name(other));
            cr_assert_str_neq(takt_strerror(code), takt_strerror(other));
        }
    }
}

Test(error, names_are_those_of_the_header)
{
    cr_assert_str_eq(takt_error_name(TAKT_OK), "OK");
    cr_assert_str_eq(takt_error_name(TAKT_E_NO_LIMIT), "NO_LIMIT");
    cr_assert_str_eq(takt_error_name(TAKT_E_STORE_TIMEOUT), "STORE_TIMEOUT");
    cr_assert_str_eq(takt_error_name(TAKT_E_SYSTEM), "SYSTEM");
    cr_assert_str_eq(takt_error_name(TAKT_E_LEASE), "LEASE");
}

Test(error, other_numbers_are_unknown)
{
    static const int numbers[] = {1, CODE_LAST - 1, -1000000, 2147483647, -2147483647 - 1};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        cr_assert_str_eq(takt_error_name(numbers[i]), "UNKNOWN");
        cr_assert_str_eq(takt_strerror(numbers[i]), "unknown error");
    }
}
