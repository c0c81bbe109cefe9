/*
 * Durations and rates: valid texts, errors, and that a written text reads back as the same value.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include <takt/policy.h>

#include "base/time_text.h"

#define DAY_US INT64_C(86400000000)

Test(time_text, durations)
{
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        {"1us", 1},
        {"250ms", 250000},
        {"1s", 1000000},
        {"90s", 90000000},
        {"20min", 1200000000},
        {"1h", INT64_C(3600000000)},
        {"1day", DAY_US},
        {"0s", 0},
        {"0us", 0},
        {"18250day", TAKT_DURATION_MAX_US},
        {"2d", 2 * DAY_US},
        {"2days", 2 * DAY_US},
        {"1hour", INT64_C(3600000000)},
        {"2hours", INT64_C(7200000000)},
        {"1hr", INT64_C(3600000000)},
        {"2hrs", INT64_C(7200000000)},
        {"1minute", 60000000},
        {"2minutes", 120000000},
        {"2mins", 120000000},
        {"5sec", 5000000},
        {"5secs", 5000000},
        {"1second", 1000000},
        {"5seconds", 5000000},
        {"5msec", 5000},
        {"5usec", 5},
        {"1576800000000000us", TAKT_DURATION_MAX_US},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t us = -1;
        takt_error error = {0};
        cr_assert_eq(takt_parse_duration(rows[i].text, &us, &error), 0, "%s: %s", rows[i].text,
                     error.text);
        cr_assert_eq(us, rows[i].us, "%s: %" PRId64, rows[i].text, us);
    }
}

Test(time_text, durations_refused)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"", "\"\": is not a duration; write a whole number and a unit, like 250ms"},
        {"s", "\"s\": is not a duration; write a whole number and a unit, like 250ms"},
        {"5", "\"5\": has no unit; use ms, s, min, h or day"},
        {"0", "\"0\": has no unit; use ms, s, min, h or day"},
        {"5m", "\"5m\": unknown unit \"m\"; use ms, s, min, h or day"},
        {"5S", "\"5S\": unknown unit \"S\"; use ms, s, min, h or day"},
        {"5Days", "\"5Days\": unknown unit \"Days\"; use ms, s, min, h or day"},
        {"5s5", "\"5s5\": unknown unit \"s5\"; use ms, s, min, h or day"},
        {"1h30min", "\"1h30min\": unknown unit \"h30min\"; use ms, s, min, h or day"},
        {"0x10s", "\"0x10s\": unknown unit \"x10s\"; use ms, s, min, h or day"},
        {"1e3s", "\"1e3s\": unknown unit \"e3s\"; use ms, s, min, h or day"},
        {"5\xc2\xb5s", "unknown unit"},
        {" 5s", "has blanks in it; write it without"},
        {"5 s", "has blanks in it; write it without"},
        {"5s ", "has blanks in it; write it without"},
        {"5s\n", "has blanks in it; write it without"},
        {"-5s", "\"-5s\": is negative; write a whole number above 0"},
        {"+5s", "\"+5s\": begins with a sign; write the number alone"},
        {"1.5s", "\"1.5s\": is not a whole number and a unit"},
        {"1,5s", "is not a whole number and a unit"},
        {"1_000s", "is not a whole number and a unit"},
        {".5s", "is not a duration"},
        {"05s", "\"05s\": has a number that begins with 0; leave that 0 out"},
        {"00s", "has a number that begins with 0"},
        {"18251day", "\"18251day\": is too long; write at most 18250day (50 years)"},
        {"1576800000000001us", "is too long"},
        {"9223372036854775807us", "is too long"},
        {"9223372036854775808s", "is too long"},
        {"99999999999999999999999999999999s", "is too long"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t us = -7;
        takt_error error = {0};
        cr_assert_eq(takt_parse_duration(rows[i].text, &us, &error), TAKT_E_INVALID, "%s",
                     rows[i].text);
        cr_assert_eq(error.code, TAKT_E_INVALID);
        cr_assert(strstr(error.text, rows[i].words) != NULL, "%s: %s", rows[i].text, error.text);
        cr_assert_eq(us, -7, "%s touched the output", rows[i].text);
    }
}

Test(time_text, rates)
{
    static const struct {
        const char *text;
        int64_t tokens, period_us;
        const char *shortest;
    } rows[] = {
        {"100/s", 100, 1000000, "100/s"},
        {"20/min", 20, 60000000, "20/min"},
        {"10/60s", 10, 60000000, "10/min"},
        {"10/90s", 10, 90000000, "10/90s"},
        {"3/250ms", 3, 250000, "3/250ms"},
        {"800/day", 800, DAY_US, "800/day"},
        {"800/1day", 800, DAY_US, "800/day"},
        {"1/h", 1, INT64_C(3600000000), "1/h"},
        {"1/us", 1, 1, "1/us"},
        {"1/10us", 1, 10, "1/10us"},
        {"1/10s", 1, 10000000, "1/10s"},
        {"100/second", 100, 1000000, "100/s"},
        {"100/sec", 100, 1000000, "100/s"},
        {"20/minute", 20, 60000000, "20/min"},
        {"20/hour", 20, INT64_C(3600000000), "20/h"},
        {"20/hr", 20, INT64_C(3600000000), "20/h"},
        {"20/d", 20, DAY_US, "20/day"},
        {"10/30seconds", 10, 30000000, "10/30s"},
        {"5/1000ms", 5, 1000000, "5/s"},
        {"1/24h", 1, DAY_US, "1/day"},
        {"1000000000/us", 1000000000, 1, "1000000000/us"},
        {"1/18250day", 1, TAKT_DURATION_MAX_US, "1/18250day"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t tokens = -1, period_us = -1;
        char text[64];
        takt_error error = {0};
        cr_assert_eq(takt_parse_rate(rows[i].text, &tokens, &period_us, &error), 0, "%s: %s",
                     rows[i].text, error.text);
        cr_assert_eq(tokens, rows[i].tokens, "%s: %" PRId64, rows[i].text, tokens);
        cr_assert_eq(period_us, rows[i].period_us, "%s: %" PRId64, rows[i].text, period_us);
        takt_format_rate(tokens, period_us, text, sizeof text);
        cr_assert_str_eq(text, rows[i].shortest);
    }
}

Test(time_text, rates_refused)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"", "\"\": is not a rate; write TOKENS/PERIOD, like 100/s or 10/60s"},
        {"100", "\"100\": is not a rate; write TOKENS/PERIOD, like 100/s or 10/60s"},
        {"fast", "is not a rate"},
        {"/s", "is not a rate"},
        {"100s", "is not a rate"},
        {"100 per s", "has blanks in it"},
        {"100 /s", "has blanks in it"},
        {"100/ s", "has blanks in it"},
        {"100/s ", "has blanks in it"},
        {"100/", "\"100/\": has no period; write one, like 100/s or 10/60s"},
        {"100/second ", "has blanks in it"},
        {"100/60m", "\"100/60m\": unknown unit \"m\"; use ms, s, min, h or day"},
        {"100/m", "unknown unit \"m\""},
        {"100/60", "\"100/60\": has no unit; use ms, s, min, h or day"},
        {"1/2/s", "unknown unit \"/s\""},
        {"100/s/s", "unknown unit \"s/s\""},
        {"0/s", "\"0/s\": lets nothing through; write at least 1 token"},
        {"1/0s", "\"1/0s\": has a period of 0; write 1us or longer"},
        {"-1/s", "\"-1/s\": is negative"},
        {"+1/s", "begins with a sign"},
        {"1/-1s", "has a negative period"},
        {"01/s", "begins with 0"},
        {"1/01s", "begins with 0"},
        {"0.5/s", "has tokens that are not a whole number"},
        {"1,000/s", "has tokens that are not a whole number"},
        {"1_000/s", "has tokens that are not a whole number"},
        {"1e3/s", "is not a rate"},
        {"1/0.5s", "is not a whole number and a unit"},
        {"1000000001/s", "has too many tokens; write at most 1000000000"},
        {"99999999999999999999/s", "has too many tokens"},
        {"1/18251day", "is too long"},
        {"1/99999999999999999999s", "is too long"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t tokens = -7, period_us = -7;
        takt_error error = {0};
        cr_assert_eq(takt_parse_rate(rows[i].text, &tokens, &period_us, &error), TAKT_E_INVALID,
                     "%s", rows[i].text);
        cr_assert(strstr(error.text, rows[i].words) != NULL, "%s: %s", rows[i].text, error.text);
        cr_assert(tokens == -7 && period_us == -7, "%s touched an output", rows[i].text);
    }
}

Test(time_text, nothing_given_is_refused)
{
    int64_t value = 0;
    cr_assert_eq(takt_parse_duration(NULL, &value, NULL), TAKT_E_INVALID);
    cr_assert_eq(takt_parse_rate(NULL, &value, &value, NULL), TAKT_E_INVALID);
    cr_assert_eq(takt_parse_duration("5 s", &value, NULL), TAKT_E_INVALID);
}

Test(time_text, durations_written)
{
    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        {0, "0s"},
        {1, "1us"},
        {999, "999us"},
        {1000, "1ms"},
        {1001, "1001us"},
        {250000, "250ms"},
        {1000000, "1s"},
        {90000000, "90s"},
        {60000000, "1min"},
        {DAY_US, "1day"},
        {DAY_US / 2, "12h"},
        {DAY_US + 1, "86400000001us"},
        {-1000, "-1ms"},
        {INT64_MAX, "9223372036854775807us"},
        {INT64_MIN, "-9223372036854775808us"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64], cut[4] = "???";
        takt_format_duration(rows[i].us, text, sizeof text);
        cr_assert_str_eq(text, rows[i].text);
        takt_format_duration(rows[i].us, cut, sizeof cut);
        cr_assert_eq(strncmp(cut, rows[i].text, 3), 0);
        cr_assert_eq(cut[3], '\0');
    }
}

Test(time_text, whole_numbers)
{
    static const struct {
        const char *text;
        int64_t max, value; /* value -1: refused */
    } rows[] = {
        {"0", 10, 0},
        {"7", 10, 7},
        {"10", 10, 10},
        {"11", 10, -1},
        {"0", 0, 0},
        {"1", 0, -1},
        {"", 10, -1},
        {"-1", 10, -1},
        {"+1", 10, -1},
        {" 1", 10, -1},
        {"1 ", 10, -1},
        {"01", 10, -1},
        {"00", 10, -1},
        {"1a", 10, -1},
        {"0x1", 10, -1},
        {"1", -1, -1},
        {"9223372036854775807", INT64_MAX, INT64_MAX},
        {"9223372036854775808", INT64_MAX, -1},
        {"92233720368547758070", INT64_MAX, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t value = -1;
        int code = takt_parse_whole(rows[i].text, rows[i].max, &value);
        cr_assert_eq(code, rows[i].value < 0 ? -1 : 0, "\"%s\" up to %" PRId64, rows[i].text,
                     rows[i].max);
        cr_assert_eq(value, rows[i].value, "\"%s\": %" PRId64, rows[i].text, value);
    }
}

Test(time_text, spans_for_a_person)
{
    static const struct {
        int64_t us;
        const char *text, *rough;
    } rows[] = {
        {-5, "0", "0 ms"},
        {0, "0", "0 ms"},
        {999, "999 us", "0 ms"},
        {850000, "850 ms", "850 ms"},
        {999999, "999 ms", "999 ms"},
        {1000000, "1 s", "1 s"},
        {1000, "1 ms", "1 ms"},
        {1549999, "1.5 s", "1 s"},
        {12345678, "12.3 s", "12 s"},
        {59999999, "59.9 s", "59 s"},
        {60000000, "1 min", "60 s"},
        {INT64_C(119999999), "1 min 59 s", "119 s"},
        {INT64_C(200000000), "3 min 20 s", "3 min"},
        {INT64_C(3600000000), "1 h", "60 min"},
        {INT64_C(7380000000), "2 h 3 min", "2 h"},
        {INT64_C(172800000000), "2 days", "2 days"},
        {INT64_C(356400000000), "4 days 3 h", "4 days"},
        {INT64_C(172799999999), "47 h 59 min", "47 h"},
        {INT64_C(187200000000), "2 days 4 h", "2 days"},
        {TAKT_DURATION_MAX_US, "18250 days", "18250 days"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TAKT_SPAN_SIZE];
        cr_assert_str_eq(takt_format_span(rows[i].us, text), rows[i].text, "%s", text);
        cr_assert_str_eq(takt_format_rough_span(rows[i].us, text), rows[i].rough, "%s", text);
    }
}
