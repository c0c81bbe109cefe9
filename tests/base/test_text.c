/*
 * Numbers and characters in the text of ledgers: written, read back, and refused.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static takt_reader reader_of(const char *text)
{
    return (takt_reader){text, text + strlen(text), false};
}

Test(text, writes_numbers)
{
    static const struct {
        int64_t value;
        const char *decimal, *hexadecimal;
    } rows[] = {
        {0, "0", "0"},
        {7, "7", "7"},
        {10, "10", "a"},
        {255, "255", "ff"},
        {1763692800123456, "1763692800123456", "64411bad82240"},
        {-1, "-1", "ffffffffffffffff"},
        {INT64_MAX, "9223372036854775807", "7fffffffffffffff"},
        {INT64_MIN, "-9223372036854775808", "8000000000000000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        takt_writer writer = {text, text + sizeof text, false};
        takt_write_int(&writer, rows[i].value);
        takt_write_char(&writer, ' ');
        takt_write_hex(&writer, (uint64_t)rows[i].value);
        takt_write_text(&writer, ".");
        *writer.at = '\0';
        cr_assert_not(writer.full);
        char expected[64];
        snprintf(expected, sizeof expected, "%s %s.", rows[i].decimal, rows[i].hexadecimal);
        cr_assert_str_eq(text, expected, "row %zu: %s", i, text);
    }
}

Test(text, a_full_buffer_is_noted_and_not_passed)
{
    for (size_t size = 0; size < 24; size++) {
        char text[32];
        memset(text, '#', sizeof text);
        takt_writer writer = {text, text + size, false};
        takt_write_text(&writer, "ab");
        takt_write_int(&writer, -12345);
        takt_write_hex(&writer, 0xbeef);
        takt_write_char(&writer, '!');
        cr_assert_eq(writer.full, size < 13, "size %zu", size);
        cr_assert(writer.at <= text + size);
        for (size_t i = size; i < sizeof text; i++)
            cr_assert_eq(text[i], '#', "size %zu: byte %zu was written", size, i);
    }
}

Test(text, reads_whole_numbers_within_bounds)
{
    static const struct {
        const char *text;
        int64_t min, max, value;
        bool good;
    } rows[] = {
        {"0", 0, 10, 0, true},
        {"10", 0, 10, 10, true},
        {"11", 0, 10, 0, false},
        {"9", 0, 8, 0, false},
        {"9", 10, 20, 10, false},
        {"10", 10, 20, 10, true},
        {"0", 1, 0, 1, false}, /* an empty range */
        {"1", 1, 0, 1, false},
        {"", 0, 10, 0, false},
        {"-", -10, 10, -10, false},
        {"-1", 0, 10, 0, false},
        {"-1", -10, 10, -1, true},
        {"-10", -10, 10, -10, true},
        {"-11", -10, 10, -10, false},
        {"+1", 0, 10, 0, false},
        {" 1", 0, 10, 0, false},
        {"x", 0, 10, 0, false},
        {"9223372036854775807", 0, INT64_MAX, INT64_MAX, true},
        {"9223372036854775808", 0, INT64_MAX, 0, false},
        {"18446744073709551616", 0, INT64_MAX, 0, false}, /* 2^64 */
        {"18446744073709551617", 0, INT64_MAX, 0, false},
        {"99999999999999999999999999", 0, INT64_MAX, 0, false},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN, true},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, INT64_MIN, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_reader reader = reader_of(rows[i].text);
        int64_t value = takt_read_int(&reader, rows[i].min, rows[i].max);
        cr_assert_eq(value, rows[i].value, "row %zu: %" PRId64, i, value);
        cr_assert_eq(takt_read_done(&reader), rows[i].good, "row %zu", i);
    }
}

Test(text, reads_hexadecimal)
{
    static const struct {
        const char *text;
        uint64_t value;
        bool good;
    } rows[] = {
        {"0", 0, true},
        {"beef", 0xbeef, true},
        {"ffffffffffffffff", UINT64_MAX, true},
        {"0ffffffffffffffff", UINT64_MAX, false}, /* 17 digits */
        {"", 0, false},
        {"BEEF", 0, false},
        {"g", 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_reader reader = reader_of(rows[i].text);
        uint64_t value = takt_read_hex(&reader);
        cr_assert_eq(takt_read_done(&reader), rows[i].good, "row %zu", i);
        if (rows[i].good)
            cr_assert_eq(value, rows[i].value, "row %zu", i);
    }
}

Test(text, reads_what_it_expects_and_remembers_what_was_bad)
{
    takt_reader reader = reader_of("ab7,c");

    cr_assert_not(takt_read_if(&reader, 'b'));
    cr_assert(takt_read_if(&reader, 'a'));
    cr_assert_not(takt_read_done(&reader));
    takt_read_text(&reader, "b7");
    takt_read_char(&reader, ',');
    cr_assert_not(reader.bad);
    cr_assert_not(takt_read_done(&reader), "one byte is left");
    takt_read_char(&reader, 'x');
    cr_assert(reader.bad);
    takt_read_char(&reader, 'c');
    cr_assert_not(takt_read_done(&reader), "bad once is bad for good");
}

Test(text, reads_no_further_than_its_end)
{
    const char text[] = "12345";
    takt_reader reader = {text, text + 3, false};

    cr_assert_eq(takt_read_int(&reader, 0, 100000), 123);
    cr_assert(takt_read_done(&reader));
    cr_assert_not(takt_read_if(&reader, '4'));
}
