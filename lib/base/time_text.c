/*
 * time_text.c: reads and writes durations and rates. It decides the units and the greatest values.
 * The callers decide the range of each field.
 */
#include "base/time_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <takt/policy.h>

#include "base/fail.h"
#include "base/quote.h"

/* Largest first: a duration is written in the first unit that divides it. */
static const struct {
    const char *name;
    int64_t us;
} units[] = {
    {"day", INT64_C(86400000000)}, {"h", INT64_C(3600000000)}, {"min", INT64_C(60000000)},
    {"s", INT64_C(1000000)},       {"ms", INT64_C(1000)},      {"us", INT64_C(1)},
};

#define UNIT_COUNT (sizeof units / sizeof units[0])

/* Other spellings of units. "m" is missing, because it may mean a minute or a month. */
static const struct {
    const char *name;
    const char *unit;
} other_names[] = {
    {"d", "day"},  {"days", "day"},   {"hour", "h"},      {"hours", "h"},  {"hr", "h"},
    {"hrs", "h"},  {"minute", "min"}, {"minutes", "min"}, {"mins", "min"}, {"sec", "s"},
    {"secs", "s"}, {"second", "s"},   {"seconds", "s"},   {"msec", "ms"},  {"usec", "us"},
};

#define OTHER_NAME_COUNT (sizeof other_names / sizeof other_names[0])
#define UNITS_TEXT       "use ms, s, min, h or day"

/* The result of reading the number at the start of a text. */
typedef enum number_kind { NUMBER_READ, NUMBER_MISSING, NUMBER_PADDED, NUMBER_LARGE } number_kind;

/* Reads the digits at *cursor and moves *cursor after them, even if the number is too large. */
static number_kind read_number(const char **cursor, int64_t max, int64_t *value)
{
    const char *first = *cursor;
    int64_t sum = 0;
    bool large = false;
    for (; **cursor >= '0' && **cursor <= '9'; (*cursor)++) {
        int digit = **cursor - '0';
        large = large || sum > (max - digit) / 10 || digit > max;
        if (!large)
            sum = sum * 10 + digit;
    }
    if (*cursor == first)
        return NUMBER_MISSING;
    if (*first == '0' && *cursor - first > 1)
        return NUMBER_PADDED;
    if (large)
        return NUMBER_LARGE;
    *value = sum;
    return NUMBER_READ;
}

int takt_parse_whole(const char *text, int64_t max, int64_t *value)
{
    int64_t number = 0;
    if (max < 0 || read_number(&text, max, &number) != NUMBER_READ || *text != '\0')
        return -1;
    *value = number;
    return 0;
}

/* The error of durations and rates: shows the whole text, then the reason. */
static int refuse(takt_error *error, const char *text, const char *reason)
{
    char quoted[TAKT_QUOTE_SIZE];
    return takt_fail(error, TAKT_E_INVALID, "%s: %s", takt_quote(text, quoted), reason);
}

/* Refuses a text that does not begin with a whole number. `otherwise` is the reason if the text
 * looks like no number at all. */
static int refuse_number(takt_error *error, const char *text, const char *at, const char *otherwise)
{
    if (strpbrk(text, " \t\r\n") != NULL)
        return refuse(error, text, "has blanks in it; write it without, like 100/s or 30s");
    if (*at == '-')
        return refuse(error, text, "is negative; write a whole number above 0");
    if (*at == '+')
        return refuse(error, text, "begins with a sign; write the number alone");
    return refuse(error, text, otherwise);
}

/* Reads the rest after the number: a unit and nothing else. */
static int read_unit(const char *text, const char *at, int64_t *unit_us, takt_error *error)
{
    const char *name = at;

    for (size_t i = 0; i < OTHER_NAME_COUNT; i++)
        if (strcmp(at, other_names[i].name) == 0)
            name = other_names[i].unit;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strcmp(name, units[i].name) == 0) {
            *unit_us = units[i].us;
            return 0;
        }
    }
    if (*at == '\0')
        return refuse(error, text, "has no unit; " UNITS_TEXT);
    if (strpbrk(text, " \t\r\n") != NULL)
        return refuse(error, text, "has blanks in it; write it without, like 100/s or 30s");
    if (*at == '.' || *at == ',' || *at == '_' || *at == '\'')
        return refuse(error, text,
                      "is not a whole number and a unit; write digits alone, and a smaller unit "
                      "where needed");
    char quoted[TAKT_QUOTE_SIZE], unit[TAKT_QUOTE_SIZE];
    return takt_fail(error, TAKT_E_INVALID, "%s: unknown unit %s; " UNITS_TEXT,
                     takt_quote(text, quoted), takt_quote(at, unit));
}

/* Reads number and unit at `at`, a position in `text`. A missing number counts as `otherwise`; 0
 * makes the number required. */
static int read_span(const char *text, const char *at, int64_t otherwise, int64_t *span_us,
                     takt_error *error)
{
    int64_t count = 0, unit_us = 0;
    number_kind found = read_number(&at, TAKT_DURATION_MAX_US, &count);
    if (found == NUMBER_MISSING && otherwise == 0)
        return refuse_number(error, text, at,
                             "is not a duration; write a whole number and a unit, like 250ms");
    if (found == NUMBER_MISSING)
        count = otherwise;
    if (found == NUMBER_PADDED)
        return refuse(error, text, "has a number that begins with 0; leave that 0 out");
    int code = read_unit(text, at, &unit_us, error);
    if (code != 0)
        return code;
    if (found == NUMBER_LARGE || count > TAKT_DURATION_MAX_US / unit_us)
        return refuse(error, text, "is too long; write at most 18250day (50 years)");
    *span_us = count * unit_us;
    return 0;
}

int takt_parse_duration(const char *text, int64_t *duration_us, takt_error *error)
{
    if (text == NULL || duration_us == NULL)
        return takt_fail(error, TAKT_E_INVALID, "no duration given");
    return read_span(text, text, 0, duration_us, error);
}

/* Reads the period of a rate: "s", "60s" and other spellings. */
static int read_period(const char *text, const char *at, int64_t *period_us, takt_error *error)
{
    if (*at == '\0')
        return refuse(error, text, "has no period; write one, like 100/s or 10/60s");
    if (*at == '-')
        return refuse(error, text, "has a negative period; write one above 0");
    int code = read_span(text, at, 1, period_us, error);
    if (code == 0 && *period_us == 0)
        return refuse(error, text, "has a period of 0; write 1us or longer");
    return code;
}

int takt_parse_rate(const char *text, int64_t *tokens, int64_t *period_us, takt_error *error)
{
    if (text == NULL || tokens == NULL || period_us == NULL)
        return takt_fail(error, TAKT_E_INVALID, "no rate given");
    const char *at = text;
    int64_t count = 0, span_us = 0;
    switch (read_number(&at, TAKT_TOKENS_MAX, &count)) {
    case NUMBER_MISSING:
        return refuse_number(error, text, at,
                             "is not a rate; write TOKENS/PERIOD, like 100/s or 10/60s");
    case NUMBER_PADDED:
        return refuse(error, text, "has a number that begins with 0; leave that 0 out");
    case NUMBER_LARGE:
        return refuse(error, text,
                      "has too many tokens; write at most 1000000000, or a shorter period");
    case NUMBER_READ:
        break;
    }
    if (*at == '.' || *at == ',' || *at == '_')
        return refuse(error, text,
                      "has tokens that are not a whole number; write digits alone, and a longer "
                      "period where needed");
    if (*at != '/')
        return refuse_number(error, text, at,
                             "is not a rate; write TOKENS/PERIOD, like 100/s or 10/60s");
    if (count == 0)
        return refuse(error, text, "lets nothing through; write at least 1 token");
    int code = read_period(text, at + 1, &span_us, error);
    if (code != 0)
        return code;
    *tokens = count;
    *period_us = span_us;
    return 0;
}

void takt_format_duration(int64_t duration_us, char *text, size_t size)
{
    size_t unit = UNIT_COUNT - 1;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (duration_us % units[i].us == 0) {
            unit = i;
            break;
        }
    }
    if (duration_us == 0)
        snprintf(text, size, "0s");
    else
        snprintf(text, size, "%" PRId64 "%s", duration_us / units[unit].us, units[unit].name);
}

void takt_format_rate(int64_t tokens, int64_t period_us, char *text, size_t size)
{
    char period[32];
    takt_format_duration(period_us, period, sizeof period);
    bool one = period[0] == '1' && (period[1] < '0' || period[1] > '9');
    snprintf(text, size, "%" PRId64 "/%s", tokens, one ? period + 1 : period);
}

/* "3 min 20 s". The second part is omitted if it is 0. */
static void put_two(char text[TAKT_SPAN_SIZE], int64_t a, const char *a_name, int64_t b,
                    const char *b_name)
{
    if (b == 0)
        snprintf(text, TAKT_SPAN_SIZE, "%" PRId64 " %s", a, a_name);
    else
        snprintf(text, TAKT_SPAN_SIZE, "%" PRId64 " %s %" PRId64 " %s", a, a_name, b, b_name);
}

const char *takt_format_span(int64_t span_us, char text[TAKT_SPAN_SIZE])
{
    int64_t s = span_us / 1000000, min = s / 60, h = min / 60;

    if (span_us <= 0)
        snprintf(text, TAKT_SPAN_SIZE, "0");
    else if (span_us < 1000)
        put_two(text, span_us, "us", 0, "");
    else if (span_us < 1000000)
        put_two(text, span_us / 1000, "ms", 0, "");
    else if (s < 60 && span_us % 1000000 == 0)
        put_two(text, s, "s", 0, "");
    else if (s < 60)
        snprintf(text, TAKT_SPAN_SIZE, "%" PRId64 ".%" PRId64 " s", s, span_us / 100000 % 10);
    else if (min < 60)
        put_two(text, min, "min", s % 60, "s");
    else if (h < 48)
        put_two(text, h, "h", min % 60, "min");
    else
        put_two(text, h / 24, "days", h % 24, "h");
    return text;
}

const char *takt_format_rough_span(int64_t span_us, char text[TAKT_SPAN_SIZE])
{
    static const struct {
        int64_t from_us, unit_us;
        const char *unit;
    } rows[] = {{INT64_C(172800000000), INT64_C(86400000000), "days"},
                {INT64_C(7200000000), INT64_C(3600000000), "h"},
                {120000000, 60000000, "min"},
                {1000000, 1000000, "s"},
                {INT64_MIN, 1000, "ms"}};
    size_t i = 0;

    while (span_us < rows[i].from_us)
        i++;
    put_two(text, span_us > 0 ? span_us / rows[i].unit_us : 0, rows[i].unit, 0, "");
    return text;
}
