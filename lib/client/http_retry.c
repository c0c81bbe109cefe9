/*
 * http_retry.c: reads a vendor's Retry-After.  See takt/http.h.
 */
#include <string.h>
#include <time.h>

#include <takt/http.h>

#include "core/rule.h"

#define SECOND_US   INT64_C(1000000)
#define DATE_FORM   "___, 00 ___ 0000 00:00:00 GMT" /* IMF-fixdate of RFC 9110 */
#define DATE_SIZE   (sizeof DATE_FORM - 1)
#define SECONDS_MAX (TAKT_SPAN_MAX_US / SECOND_US)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The value without the blanks around it. */
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

static int read_seconds(const char *value, size_t size, int64_t *seconds)
{
    int64_t read = 0;

    for (size_t i = 0; i < size; i++) {
        if (!is_digit(value[i]))
            return TAKT_E_INVALID;
        read = bounded(10 * read + (value[i] - '0'));
    }
    *seconds = read;
    return size > 0 ? 0 : TAKT_E_INVALID;
}

static int two(const char *digits)
{
    return 10 * (digits[0] - '0') + digits[1] - '0';
}

/* Which of names of three letters it is; -1: none. */
static int named(const char *name, const char *names)
{
    for (int i = 0; names[3 * i]; i++)
        if (memcmp(name, names + 3 * (ptrdiff_t)i, 3) == 0)
            return i;
    return -1;
}

static int read_date(const char *value, int64_t *seconds)
{
    struct tm tm = {.tm_isdst = 0}, same;
    size_t size;
    time_t at;

    value = trim(value, &size);
    if (size != DATE_SIZE)
        return TAKT_E_INVALID;
    for (size_t i = 0; i < size; i++)
        if (DATE_FORM[i] == '0' ? !is_digit(value[i])
                                : DATE_FORM[i] != '_' && value[i] != DATE_FORM[i])
            return TAKT_E_INVALID;
    tm.tm_wday = named(value, "SunMonTueWedThuFriSat");
    tm.tm_mday = two(value + 5);
    tm.tm_mon = named(value + 8, "JanFebMarAprMayJunJulAugSepOctNovDec");
    tm.tm_year = 100 * two(value + 12) + two(value + 14) - 1900;
    tm.tm_hour = two(value + 17);
    tm.tm_min = two(value + 20);
    tm.tm_sec = two(value + 23);
    same = tm;
    if (tm.tm_wday < 0 || tm.tm_mon < 0)
        return TAKT_E_INVALID;
    at = timegm(
        &same); /* which makes another day of a 31st of June, and knows the day of the week */
    if (same.tm_mday != tm.tm_mday || same.tm_hour != tm.tm_hour || same.tm_min != tm.tm_min ||
        same.tm_sec != tm.tm_sec || same.tm_wday != tm.tm_wday)
        return TAKT_E_INVALID;
    *seconds = at;
    return 0;
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
