/*
 * Foreign text between the quotes of a JSON string.
 */
#include <string.h>

#include <criterion/criterion.h>

#include "kit/json.h"

#define MARK "\xef\xbf\xbd" /* U+FFFD */

Test(json, any_bytes_become_a_string)
{
    static const struct {
        const char *text;
        size_t size;
        const char *json;
    } rows[] = {
        {"a b", 3, "a b"},
        {"say \"no\\yes\"", 12, "say \\\"no\\\\yes\\\""},
        {"\0\n\x1f\x7f", 4, "\\u0000\\u000a\\u001f\\u007f"},
        {"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 12, "h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xe2\x80\xae", 3, "\\u202e"},            /* turns what follows around */
        {"\xf3\xa0\x81\x81", 4, "\\udb40\\udc41"}, /* a tag: invisible, beyond U+FFFF */
        {"\xc3", 1, MARK "c3"},                    /* cut off */
        {"\xff"
         "a",
         2, MARK "ffa"},                                    /* never UTF-8 */
        {MARK "ff", 5, MARK "ef" MARK "bf" MARK "bdff"},    /* U+FFFD itself */
        {"\xed\xa0\x80", 3, MARK "ed" MARK "a0" MARK "80"}, /* a surrogate */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[128] = "", character[TAKT_JSON_CHARACTER_SIZE];
        for (size_t at = 0; at < rows[i].size;) {
            size_t count = takt_json_character(rows[i].text + at, rows[i].size - at, character);
            cr_assert(count > 0 && at + count <= rows[i].size);
            at += count;
            strcat(json, character);
        }
        cr_expect_str_eq(json, rows[i].json, "row %zu: %s", i, json);
    }
}
