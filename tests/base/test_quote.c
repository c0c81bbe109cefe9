/*
 * A quoted text is short and harmless, and shows all its bytes.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/quote.h"

#define EIGHT "abcdefgh"
#define FORTY EIGHT EIGHT EIGHT EIGHT EIGHT

Test(quote, shows_what_may_be_shown)
{
    static const struct {
        const char *value, *quoted;
    } rows[] = {
        {"", "\"\""},
        {"100/sec", "\"100/sec\""},
        {"two words", "\"two words\""},
        {"caf\xc3\xa9 \xe2\x82\xac", "\"caf\xc3\xa9 \xe2\x82\xac\""},
        {"a\"b", "\"a\\\"b\""},
        {"a\\b", "\"a\\\\b\""},
        {"a\nb\tc", "\"a\\x0ab\\x09c\""},
        {"\x1b[31mred", "\"\\x1b[31mred\""},
        {"\x7f", "\"\\x7f\""},
        {"\xc2\x9b", "\"\\xc2\\x9b\""},            /* a terminal's control sequence in two bytes */
        {"\xe2\x80\xae", "\"\\xe2\\x80\\xae\""},   /* right to left from here */
        {"\xe2\x80\x8b", "\"\\xe2\\x80\\x8b\""},   /* a blank of no width */
        {"\xef\xbb\xbfx", "\"\\xef\\xbb\\xbfx\""}, /* a byte order mark */
        {"\xd8\x9c", "\"\\xd8\\x9c\""},            /* a mark of Arabic writing */
        {"a\xc2\xadz", "\"a\\xc2\\xadz\""},        /* a hyphen that is not shown */
        {"\xf3\xa0\x81\x81", "\"\\xf3\\xa0\\x81\\x81\""}, /* a tag */
        {"\xff\xfe", "\"\\xff\\xfe\""},
        {FORTY EIGHT, "\"" FORTY EIGHT "\""},
        {FORTY EIGHT "i", "\"" FORTY EIGHT "...\""},
        {FORTY "abcdefg\xc3\xa9",
         "\"" FORTY "abcdefg...\""}, /* cut before a character, not in it */
        {FORTY "abcdef\xc3\xa9", "\"" FORTY "abcdef\xc3\xa9\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TAKT_QUOTE_SIZE];
        cr_assert_eq(takt_quote(rows[i].value, text), text);
        cr_assert_str_eq(text, rows[i].quoted, "row %zu: %s", i, text);
    }
}

Test(quote, what_is_hidden)
{
    static const uint32_t hidden[] = {0,      0x1b,   0x7f,   0x9f,   0xad,   0x61c,   0x180e,
                                      0x200b, 0x200f, 0x2028, 0x202a, 0x202e, 0x2060,  0x2066,
                                      0x2069, 0x206f, 0xfeff, 0xfff9, 0xfffb, 0xe0001, 0xe007f};
    static const uint32_t shown[] = {' ',    '~',    0xa0,    0xac,    0xae,    0x61b,
                                     0x200a, 0x2010, 0x2027,  0x202f,  0x205f,  0x2070,
                                     0xfff8, 0xfffd, 0x1f642, 0xdffff, 0xe0080, 0x10ffff};

    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        cr_expect(takt_quote_hides(hidden[i]), "U+%04X", (unsigned)hidden[i]);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        cr_expect_not(takt_quote_hides(shown[i]), "U+%04X", (unsigned)shown[i]);
}

Test(quote, the_worst_text_fits)
{
    char value[1000], text[TAKT_QUOTE_SIZE];
    for (int byte = 1; byte < 256; byte++) {
        memset(value, byte, sizeof value - 1);
        value[sizeof value - 1] = '\0';
        takt_quote(value, text);
        cr_assert_lt(strlen(text), sizeof text);
        cr_assert_eq(text[strlen(text) - 1], '"');
    }
}

Test(quote, bytes_fill_the_room_there_is)
{
    static const struct {
        const char *value;
        size_t size, room;
        const char *quoted;
    } rows[] = {
        {"a\0b", 3, 40, "\"a\\x00b\""},
        {FORTY, 40, 46, "\"" FORTY "\""},
        {FORTY, 40, 45, "\"abcdefghabcdefghabcdefghabcdefghabcdefg...\""},
        {EIGHT "\xe2\x82\xac" EIGHT, 19, 16, "\"" EIGHT "...\""},
        {"\x01\x02\x03\x04", 4, 16, "\"\\x01\\x02...\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        memset(text, '#', sizeof text);
        takt_quote_bytes(rows[i].value, rows[i].size, text, rows[i].room);
        cr_assert_str_eq(text, rows[i].quoted, "row %zu: %s", i, text);
        cr_assert_eq(text[rows[i].room], '#', "row %zu", i);
    }
}
