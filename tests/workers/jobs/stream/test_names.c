/*
 * test_names.c: names of streams and entries, as they are read and written.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "jobs/stream/names.h"

static takt_reply text(const char *words)
{
    return (takt_reply){.type = TAKT_REPLY_STRING, .text = words, .size = strlen(words)};
}

Test(stream_names, keys)
{
    char key[TAKT_STREAM_KEY_SIZE], long_name[TAKT_STREAM_NAME_MAX + 2] = "";

    takt_stream_names_key(key, "mails");
    cr_expect_str_eq(key, "takt:jobs:{mails}");
    takt_stream_names_dead_key(key, "mails");
    cr_expect_str_eq(key, "takt:jobs:{mails}:dead");
    memset(long_name, 'x', TAKT_STREAM_NAME_MAX);
    cr_expect_eq(takt_stream_names_check(long_name, "stream", NULL), 0);
    takt_stream_names_dead_key(key, long_name);
    cr_expect_not_null(strstr(key, ":dead"), "the longest name fits");
    long_name[TAKT_STREAM_NAME_MAX] = 'x';
    cr_expect_eq(takt_stream_names_check(long_name, "stream", NULL), TAKT_E_INVALID);
}

Test(stream_names, that_are_none)
{
    static const char *const names[] = {"", "a b", "{a}", "a\n", "caf\xc3\xa9", "a*"};
    takt_error error;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cr_expect_eq(takt_stream_names_check(names[i], "group", &error), TAKT_E_INVALID, "%s",
                     names[i]);
        cr_expect_not_null(strstr(error.text, "a group's name has 1 to 128"), "%s", error.text);
    }
}

Test(stream_names, entries)
{
    static const struct {
        const char *text;
        bool good;
    } table[] = {
        {"0-0", true},
        {"1763692800000-17", true},
        {"18446744073709551615-18446744073709551615", true},
        {"", false},
        {"-", false},
        {"1", false},
        {"1-", false},
        {"-1", false},
        {"1-2-3", false},
        {"+1-1", false},
        {"1-1 ", false},
        {"18446744073709551616-0", false},
        {"a-1", false},
        {"1-0x1", false},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_reply value = text(table[i].text);
        char again[TAKT_STREAM_ENTRY_SIZE];
        takt_job_ref ref = {7, 7};
        cr_expect_eq(takt_stream_names_read_entry(&value, &ref), table[i].good, "%s",
                     table[i].text);
        if (table[i].good) {
            cr_expect_eq(takt_stream_names_write_entry(again, ref), strlen(table[i].text));
            cr_expect_str_eq(again, table[i].text);
        } else {
            cr_expect(ref.major == 7 && ref.minor == 7, "untouched");
        }
    }
}

Test(stream_names, fields)
{
    takt_reply fields[] = {{.type = TAKT_REPLY_ARRAY, .count = 5},
                           text("why"),
                           text("job"),
                           text("job"),
                           text("{}"),
                           text("odd")};
    takt_reply nothing = {.type = TAKT_REPLY_NIL};

    cr_expect_str_eq(takt_stream_names_field(fields, "job")->text, "{}", "a value is no name");
    cr_expect_null(takt_stream_names_field(fields, "odd"), "a name without a value");
    cr_expect_null(takt_stream_names_field(fields, "id"));
    cr_expect_null(takt_stream_names_field(&nothing, "job"));
}
