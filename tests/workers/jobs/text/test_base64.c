/*
 * The test vectors of RFC 4648, and bytes that are no text.
 */
#include <criterion/criterion.h>

#include "jobs/text/base64.h"

Test(base64, vectors)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *expected;
    } rows[] = {
        {"", 0, ""},
        {"f", 1, "Zg=="},
        {"fo", 2, "Zm8="},
        {"foo", 3, "Zm9v"},
        {"foob", 4, "Zm9vYg=="},
        {"fooba", 5, "Zm9vYmE="},
        {"foobar", 6, "Zm9vYmFy"},
        {"\0\xff\xfe\x80", 4, "AP/+gA=="},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        takt_buffer out = {0};
        takt_base64_put(&out, rows[i].bytes, rows[i].size);
        cr_assert_str_eq(takt_buffer_end(&out), rows[i].expected);
        takt_buffer_free(&out);
    }
}
