/*
 * Labels of an OpenMetrics text: with any key the text stays UTF-8 and one line, and different keys
 * stay different.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "kit/openmetrics.h"

#define MARK "\xef\xbf\xbd" /* U+FFFD */

Test(openmetrics, labels)
{
    static const struct {
        const char *value, *text;
    } table[] = {
        {"", "key=\"\""},
        {"a b,{}=", "key=\"a b,{}=\""},
        {"we\"ird\\na\nme", "key=\"we\\\"ird\\\\na\\nme\""},
        {"h\xc3\xa9 \xf0\x9f\x98\x80", "key=\"h\xc3\xa9 \xf0\x9f\x98\x80\""},
        {"x\xffy", "key=\"x" MARK "ffy\""}, /* never UTF-8 */
        {"x\\xffy", "key=\"x\\\\xffy\""},   /* the characters of an escape */
        {"x" MARK "ffy", "key=\"x" MARK "ef" MARK "bf" MARK "bdffy\""}, /* U+FFFD itself */
        {"\xc3", "key=\"" MARK "c3\""},                                 /* cut off */
        {"\xed\xa0\x80", "key=\"" MARK "ed" MARK "a0" MARK "80\""},     /* a surrogate */
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        cr_assert_not_null(out);
        takt_openmetrics_label(out, "key", table[i].value);
        cr_assert_eq(fclose(out), 0);
        cr_expect_str_eq(text, table[i].text);
        free(text);
    }
}
