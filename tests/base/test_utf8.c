/*
 * Valid UTF-8, and bytes that only look like it.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

/* Never within the last character, if there is one. */
Test(utf8, a_cut_ends_with_a_whole_character)
{
    static const struct {
        const char *text;
        size_t size, whole;
    } rows[] = {
        {"abc", 2, 2},
        {"abc", 0, 0},
        {"a\xc3\xa4z", 3, 3},
        {"a\xc3\xa4z", 2, 1},
        {"\xe2\x82\xac!", 3, 3},
        {"\xe2\x82\xac!", 2, 0},
        {"x\xe2\x82\xac!", 2, 1},
        {"x\xf0\x9f\x98\x80", 4, 1},
        {"x\xf0\x9f\x98\x80", 5, 5},
        {"\x80\x80\x80\x80\x80", 4, 4}, /* not UTF-8 */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(takt_utf8_whole(rows[i].text, rows[i].size), rows[i].whole, "row %zu", i);
}

Test(utf8, reads_one_character_or_none)
{
    static const struct {
        const char *bytes;
        size_t size, length;
        uint32_t character;
    } rows[] = {
        {"", 0, 0, 0},
        {"\0", 1, 1, 0},
        {"a", 1, 1, 'a'},
        {"\x7f", 1, 1, 0x7f},
        {"\x80", 1, 0, 0}, /* a continuation alone */
        {"\xbf", 1, 0, 0},
        {"\xc2\x80", 2, 2, 0x80},
        {"\xc2\x80zz", 4, 2, 0x80},
        {"\xc2", 1, 0, 0}, /* cut short */
        {"\xc2z", 2, 0, 0},
        {"\xc1\xbf", 2, 0, 0}, /* overlong */
        {"\xdf\xbf", 2, 2, 0x7ff},
        {"\xe0\xa0\x80", 3, 3, 0x800},
        {"\xe0\x9f\xbf", 3, 0, 0}, /* overlong */
        {"\xe2\x82", 2, 0, 0},
        {"\xe2\x82\xac", 3, 3, 0x20ac},
        {"\xed\x9f\xbf", 3, 3, 0xd7ff},
        {"\xed\xa0\x80", 3, 0, 0}, /* surrogates */
        {"\xed\xbf\xbf", 3, 0, 0},
        {"\xee\x80\x80", 3, 3, 0xe000},
        {"\xf0\x90\x80\x80", 4, 4, 0x10000},
        {"\xf0\x8f\xbf\xbf", 4, 0, 0}, /* overlong */
        {"\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff},
        {"\xf4\x90\x80\x80", 4, 0, 0}, /* above U+10FFFF */
        {"\xf8\x88\x80\x80\x80", 5, 0, 0},
        {"\xff", 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t character = 0;
        size_t length = takt_utf8_decode(rows[i].bytes, rows[i].size, &character);
        cr_assert_eq(length, rows[i].length, "row %zu: length %zu", i, length);
        cr_assert_eq(character, rows[i].character, "row %zu: character %" PRIx32, i, character);
    }
}
