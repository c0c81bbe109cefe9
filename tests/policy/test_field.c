/*
 * What the readers of fields share: an error begins with its field's name, and a count is a whole
 * number above 0.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "policy/field.h"

Test(field, stands_before_what_was_wrong_with_it)
{
    static const struct {
        int code, told;
        const char *text;
    } rows[] = {
        {TAKT_E_INVALID, TAKT_E_POLICY, "burst: too much"},
        {TAKT_E_POLICY, TAKT_E_POLICY, "burst: too much"},
        {TAKT_E_NOMEM, TAKT_E_NOMEM, "too much"}, /* no field's fault */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_error error = {.code = rows[i].code, .text = "too much"};
        cr_expect_eq(takt_field_refuse("burst", rows[i].code, &error), rows[i].told, "row %zu", i);
        cr_expect_eq(error.code, rows[i].told, "row %zu", i);
        cr_expect_str_eq(error.text, rows[i].text, "row %zu", i);
        cr_expect_eq(takt_field_refuse("burst", rows[i].code, NULL), rows[i].told, "row %zu", i);
    }
}

Test(field, a_count_is_a_whole_number_from_1)
{
    static const struct {
        const char *text;
        int64_t value; /* -1: refused */
    } rows[] = {
        {"1", 1},    {"17", 17}, {"50", 50}, {NULL, 7}, /* its old value */
        {"51", -1},  {"0", -1},  {"-1", -1}, {"", -1},
        {"1.5", -1}, {"x", -1},  {"1 ", -1}, {"99999999999999999999", -1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_error error = {0};
        int64_t value = 7;
        int status = takt_field_read_count("queue", rows[i].text, 50, &value, &error);
        cr_expect_eq(status, rows[i].value < 0 ? TAKT_E_POLICY : 0, "row %zu", i);
        cr_expect_eq(value, rows[i].value < 0 ? 7 : rows[i].value, "row %zu", i);
        if (rows[i].value < 0)
            cr_expect(strncmp(error.text, "queue: ", 7) == 0 &&
                          strstr(error.text, "write a whole number from 1 to 50"),
                      "row %zu: %s", i, error.text);
    }
}

Test(field, appends_no_more_than_there_is_space_for)
{
    char text[8] = "ab";

    takt_field_append(text, sizeof text, " %d", 17);
    cr_expect_str_eq(text, "ab 17");
    takt_field_append(text, sizeof text, " queue %d", 9);
    cr_expect_str_eq(text, "ab 17 q");
    takt_field_append(text, sizeof text, "%s", "more");
    cr_expect_str_eq(text, "ab 17 q");
}
