/*
 * http_retry.c: reads a vendor's Retry-After.  See takt/http.h.
 */
#include <string.h>
#include <time.h>

#include <takt/http.h>

#include "rules/rule.h"

#define SECOND_US   INT64_C(1000000)
#define SECONDS_MAX (TAKT_SPAN_MAX_US / SECOND_US)

/* The forms of RFC 9110; servers send the first.  '0' stands for a digit, '_' for any character. */
#define IMF_FORM     "___, 00 ___ 0000 00:00:00 GMT"
#define ASCTIME_FORM "___ ___ _0 00:00:00 0000"
#define RFC850_FORM  ", 00-___-00 00:00:00 GMT" /* after the full name of the day */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Skips the blanks around the value. */
static const char *trim(const char *value, size_t *size)
{
    value += strspn(value, " \t");
    *size = strlen(value);
    while (*size > 0 && (value[*size - 1] == ' ' || value[*size - 1] == '\t'))
        --*size;
    return value;
}

static int64_t bounded(int64_t seconds)
{
    return seconds < SECONDS_MAX ? seconds : SECONDS_MAX;
}

/* Some vendors write a fraction ("2.0"), which RFC 9110 does not have. It is rounded up. */
static int read_seconds(const char *value, size_t size, int64_t *seconds)
{
    int64_t read = 0;
    bool more = false;
    size_t i = 0;

    for (; i < size && is_digit(value[i]); i++)
        read = bounded(10 * read + (value[i] - '0'));
    if (i == 0 || (i < size && (value[i] != '.' || i + 1 == size)))
        return TAKT_E_INVALID;
    for (i++; i < size; i++) {
        if (!is_digit(value[i]))
            return TAKT_E_INVALID;
        more |= value[i] != '0';
    }
    *seconds = bounded(read + more);
    return 0;
}

static bool has_form(const char *value, size_t size, const char *form)
{
    if (size != strlen(form))
        return false;
    for (size_t i = 0; i < size; i++)
        if (form[i] == '0' ? !is_digit(value[i]) : form[i] != '_' && value[i] != form[i])
            return false;
    return true;
}

/* Reads two digits.  asctime writes a blank instead of a leading 0. */
static int two(const char *digits)
{
    return (digits[0] == ' ' ? 0 : 10 * (digits[0] - '0')) + digits[1] - '0';
}

/* The index of a name of three letters in `names`; -1: not found. */
static int named(const char *name, const char *names)
{
    for (int i = 0; names[3 * i]; i++)
        if (memcmp(name, names + 3 * (ptrdiff_t)i, 3) == 0)
            return i;
    return -1;
}

/* The index of a day of the week by its full name; -1: not found. */
static int day_named(const char *name, size_t size)
{
    static const char *const names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};

    for (int i = 0; i < 7; i++)
        if (strlen(names[i]) == size && memcmp(name, names[i], size) == 0)
            return i;
    return -1;
}

/* Reads a date from the places where its parts begin. */
static struct tm parts_at(int day, const char *mday, const char *month, int year, const char *clock)
{
    return (struct tm){.tm_wday = day,
                       .tm_mday = two(mday),
                       .tm_mon = named(month, "JanFebMarAprMayJunJulAugSepOctNovDec"),
                       .tm_year = year - 1900,
                       .tm_hour = two(clock),
                       .tm_min = two(clock + 3),
                       .tm_sec = two(clock + 6)};
}

/* False: the date does not exist, or falls on another day of the week. */
static bool seconds_of(const struct tm *tm, int64_t *seconds)
{
    struct tm same = *tm;

    if (tm->tm_wday < 0 || tm->tm_mon < 0)
        return false;
    *seconds = timegm(&same); /* changes a 31st of June into another day */
    return same.tm_mday == tm->tm_mday && same.tm_hour == tm->tm_hour &&
           same.tm_min == tm->tm_min && same.tm_sec == tm->tm_sec && same.tm_wday == tm->tm_wday;
}

static int year_at(const char *digits)
{
    return 100 * two(digits) + two(digits + 2);
}

/* Finds the century by the day of the week: neighbouring centuries never agree on it. */
static bool read_rfc850(const char *value, size_t size, int64_t *seconds)
{
    size_t name = strcspn(value, ",");

    if (name >= size || !has_form(value + name, size - name, RFC850_FORM))
        return false;
    const char *rest = value + name;
    for (int century = 1900; century <= 2100; century += 100) {
        struct tm tm = parts_at(day_named(value, name), rest + 2, rest + 5, century + two(rest + 9),
                                rest + 12);
        if (seconds_of(&tm, seconds))
            return true;
    }
    return false;
}

static int read_date(const char *value, int64_t *seconds)
{
    const char *days = "SunMonTueWedThuFriSat";
    struct tm tm = {.tm_wday = -1};
    size_t size;

    value = trim(value, &size);
    if (has_form(value, size, IMF_FORM))
        tm = parts_at(named(value, days), value + 5, value + 8, year_at(value + 12), value + 17);
    else if (has_form(value, size, ASCTIME_FORM) && (value[8] == ' ' || is_digit(value[8])))
        tm = parts_at(named(value, days), value + 8, value + 4, year_at(value + 20), value + 11);
    else if (read_rfc850(value, size, seconds))
        return 0;
    return seconds_of(&tm, seconds) ? 0 : TAKT_E_INVALID;
}

int takt_http_retry_after(const char *value, const char *date, int64_t *for_us)
{
    int64_t seconds, until, from;
    size_t size;

    if (!value || !for_us)
        return TAKT_E_INVALID;
    value = trim(value, &size);
    if (read_seconds(value, size, &seconds) != 0) {
        if (!date || read_date(value, &until) != 0 || read_date(date, &from) != 0)
            return TAKT_E_INVALID;
        seconds = until > from ? bounded(until - from) : 0;
    }
    *for_us = seconds * SECOND_US;
    return 0;
}
