/*
 * Mappings that are one text: names and values without the blanks around them, and what is refused.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "policy/pairs.h"

Test(pairs, reads_names_and_values)
{
    takt_pairs pairs;
    takt_error error = {0};

    cr_assert_eq(takt_pairs_read("f", " { acme: 3,\tbig one:  a:b ,x: y: z} ", 3, &pairs, &error),
                 0, "%s", error.text);
    cr_assert_eq(pairs.count, 3);
    cr_expect_str_eq(pairs.pairs[0].name, "acme");
    cr_expect_str_eq(pairs.pairs[0].value, "3");
    cr_expect_str_eq(pairs.pairs[1].name, "big one");
    cr_expect_str_eq(pairs.pairs[1].value, "a:b");
    cr_expect_str_eq(pairs.pairs[2].name, "x");
    cr_expect_str_eq(pairs.pairs[2].value, "y: z", "the first colon ends the name");
}

Test(pairs, a_quoted_name_is_as_it_is)
{
    static const char *const names[] = {" lead", "tail ", "it's", "\"", "a: b", "'", " "};
    char text[TAKT_PAIRS_TEXT_SIZE] = "{";
    takt_pairs pairs;
    takt_error error = {0};
    int count = (int)(sizeof names / sizeof names[0]);

    for (int i = 0; i < count; i++) {
        strcat(text, i > 0 ? ", " : "");
        takt_pairs_quote(names[i], text, sizeof text);
        strcat(text, ": 3");
    }
    strcat(text, "}");
    cr_assert_eq(takt_pairs_read("f", text, count, &pairs, &error), 0, "%s", error.text);
    cr_assert_eq(pairs.count, count);
    for (int i = 0; i < count; i++) {
        cr_expect_str_eq(pairs.pairs[i].name, names[i]);
        cr_expect_str_eq(pairs.pairs[i].value, "3");
    }
    cr_assert_eq(takt_pairs_read("f", "{ \"a \"\" b\" : 1, c'd: 2}", 2, &pairs, &error), 0, "%s",
                 error.text);
    cr_expect_str_eq(pairs.pairs[0].name, "a \" b");
    cr_expect_str_eq(pairs.pairs[1].name, "c'd");
}

Test(pairs, refuses_what_is_none)
{
    static const char shape[] = "f: write {NAME: VALUE, NAME: VALUE}, without commas and braces in "
                                "the values",
                      half[] = "f: \"a\" has no name or no value; write {NAME: VALUE, NAME: VALUE}",
                      none[] = "f: \"\" has no name or no value; write {NAME: VALUE, NAME: VALUE}",
                      empty[] = "f: an entry is empty; write {NAME: VALUE, NAME: VALUE}, or leave "
                                "the field out";
    static const struct {
        const char *text, *told;
    } rows[] = {
        {"", shape},
        {"{", shape},
        {"a: 1", shape},
        {"{a: 1", shape},
        {"{a: {b: 1}}", shape},
        {"{}", empty},
        {"{a: 1, }", empty},
        {"{: 1}", none},
        {"{a}", half},
        {"{a:1, b: 2}", "f: \"a:1\" has no name or no value; write {NAME: VALUE, NAME: VALUE}"},
        {"{a: }", half},
        {"{'a: 1}", "f: \"'a: 1\" has no closing quote; write {'NAME': VALUE}"},
        {"{'a' b: 1}", half},
        {"{'a'}", half},
        {"{'': 1}", none},
        {"{a: 1, 'a': 2}", "f: \"a\" is repeated; write it once"},
        {"{a: 1, a: 2}", "f: \"a\" is repeated; write it once"},
        {"{a: 1, b: 2, c: 3}", "f: has more than 2 entries; write fewer"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_pairs pairs;
        takt_error error = {0};
        cr_expect_eq(takt_pairs_read("f", rows[i].text, 2, &pairs, &error), TAKT_E_POLICY, "%s",
                     rows[i].text);
        cr_expect_str_eq(error.text, rows[i].told);
    }
}

Test(pairs, a_text_has_a_bound)
{
    static char text[TAKT_PAIRS_TEXT_SIZE + 1];
    takt_pairs pairs;
    takt_error error = {0};

    memset(text, 'x', sizeof text - 1);
    memcpy(text, "{a: ", 4);
    text[TAKT_PAIRS_TEXT_SIZE - 1] = '}';
    cr_expect_eq(takt_pairs_read("f", text, 2, &pairs, &error), TAKT_E_POLICY);
    cr_expect_str_eq(error.text, "f: has 5120 bytes; write at most 5119");
    text[TAKT_PAIRS_TEXT_SIZE - 2] = '}';
    text[TAKT_PAIRS_TEXT_SIZE - 1] = '\0';
    cr_expect_eq(takt_pairs_read("f", text, 2, &pairs, &error), 0);
}
