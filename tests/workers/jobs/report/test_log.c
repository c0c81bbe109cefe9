/*
 * Lines of the log: their two formats, and foreign texts that try to forge a line.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "jobs/report/log.h"

#define MARK  "\xef\xbf\xbd"            /* U+FFFD */
#define AT_US INT64_C(1763796066000007) /* 2025-11-22T07:21:06.000007Z */

static takt_report_line line;

static const char *one_line(bool json, const char *id, const char *why)
{
    takt_report_log_begin(&line, json, AT_US, "takt-mail", "retry");
    takt_report_log_text(&line, "id", id);
    takt_report_log_word(&line, "limit", "sendgrid");
    takt_report_log_number(&line, "attempt", 2);
    takt_report_log_seconds(&line, "after_s", 1500001);
    takt_report_log_text(&line, "why", why);
    takt_report_log_end(&line);
    cr_assert_eq(strlen(line.text), line.used);
    return line.text;
}

Test(log, both_forms)
{
    cr_assert_str_eq(one_line(false, "m-17", "451 later"),
                     "2025-11-22T07:21:06.000007Z takt-mail retry id=\"m-17\" limit=sendgrid "
                     "attempt=2 after_s=1.500001 why=\"451 later\"\n");
    cr_assert_str_eq(one_line(true, "m-17", "451 later"),
                     "{\"time\":\"2025-11-22T07:21:06.000007Z\",\"program\":\"takt-mail\","
                     "\"event\":\"retry\",\"id\":\"m-17\",\"limit\":\"sendgrid\",\"attempt\":2,"
                     "\"after_s\":1.500001,\"why\":\"451 later\"}\n");
}

Test(log, what_is_not_there_is_left_out)
{
    takt_report_log_begin(&line, true, AT_US, "takt-mail", "dead");
    takt_report_log_text(&line, "id", NULL);
    takt_report_log_word(&line, "limit", NULL);
    takt_report_log_seconds(&line, "took_s", -5);
    takt_report_log_end(&line);
    cr_assert_not_null(strstr(line.text, "\"event\":\"dead\",\"took_s\":0.000000}\n"));
}

/* What a text is in the line, read by a reader of JSON; in both forms it is quoted alike. */
static const char *read_back(const char *text)
{
    static char read[2048];
    json_error_t error;
    json_t *fields = json_loads(one_line(true, "x", text), JSON_ALLOW_NUL, &error);

    cr_assert_not_null(fields, "%s in %s", error.text, line.text);
    json_t *why = json_object_get(fields, "why");
    cr_assert_not_null(why, "%s", line.text);
    snprintf(read, sizeof(read), "%s", json_string_value(why));
    json_decref(fields);
    one_line(false, "x", text);
    cr_assert_eq(strchr(line.text, '\n'), line.text + line.used - 1, "no line of its own");
    return read;
}

Test(log, texts_come_through)
{
    static const struct {
        const char *text, *read;
    } table[] = {
        {"", ""},
        {"say \"no\" \\ yes", "say \"no\" \\ yes"},
        {"a\nb\tc\rd\x1b[31m\x7f", "a\nb\tc\rd\x1b[31m\x7f"},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82"},
        {"\xff\xfe", MARK "ff" MARK "fe"},
        {"cut \xe2\x82", "cut " MARK "e2" MARK "82"},
        {"long \xc0\x80", "long " MARK "c0" MARK "80"},
        {"\xed\xa0\x80", MARK "ed" MARK "a0" MARK "80"},
        {"\xf4\x90\x80\x80", MARK "f4" MARK "90" MARK "80" MARK "80"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        cr_expect_str_eq(read_back(table[i].text), table[i].read, "line %zu", i);
}

Test(log, hidden_characters_are_escaped)
{
    static const struct {
        const char *text, *written;
    } table[] = {
        {"a\xe2\x80\xaez", "\"a\\u202ez\""}, /* right to left from here */
        {"\xe2\x81\xa6", "\"\\u2066\""},
        {"\xe2\x80\x8b", "\"\\u200b\""}, /* a blank of no width */
        {"\xd8\x9c", "\"\\u061c\""},
        {"\xef\xbb\xbf", "\"\\ufeff\""},
        {"\xf3\xa0\x81\x81", "\"\\udb40\\udc41\""}, /* a tag */
        {"\xf0\x9f\x99\x82", "\"\xf0\x9f\x99\x82\""},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        cr_expect_str_eq(read_back(table[i].text), table[i].text, "line %zu", i);
        for (int json = 0; json < 2; json++) {
            one_line(json, "x", table[i].text);
            cr_expect_not_null(strstr(line.text, table[i].written), "%s", line.text);
        }
    }
}

/* The longest texts there are, each byte of which takes the most room, still make a whole line. */
Test(log, long_texts_are_cut)
{
    char text[4 * TAKT_REPORT_LOG_TEXT_MAX];

    memset(text, '\x01', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    cr_assert_eq(strlen(read_back(text)), TAKT_REPORT_LOG_TEXT_MAX);
    one_line(true, text, text);
    cr_assert_lt(line.used, sizeof(line.text));
    json_t *fields = json_loads(line.text, 0, NULL);
    cr_assert_not_null(fields);
    json_decref(fields);
}
