/*
 * Labels of an OpenMetrics text: with any key the text stays UTF-8 and one line.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "kit/openmetrics.h"

Test(openmetrics, labels)
{
    static const struct {
        const char *value, *text;
    } table[] = {
        {"", "key=\"\""},
        {"a b,{}=", "key=\"a b,{}=\""},
        {"we\"ird\\na\nme", "key=\"we\\\"ird\\\\na\\nme\""},
        {"h\xc3\xa9 \xf0\x9f\x98\x80", "key=\"h\xc3\xa9 \xf0\x9f\x98\x80\""},
        {"x\xffy", "key=\"x\\\\xffy\""},                   /* never UTF-8 */
        {"\xc3", "key=\"\\\\xc3\""},                       /* cut off */
        {"\xed\xa0\x80", "key=\"\\\\xed\\\\xa0\\\\x80\""}, /* a surrogate */
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
