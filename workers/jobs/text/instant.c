/*
 * instant.c: reads RFC 3339 strictly: a time without an offset would be a different instant on each
 * host, so it is refused.
 */
#include "instant.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Days from 1970-01-01 to a day of the Gregorian calendar. */
static int64_t days_before(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t of_era = y % 400, m = (month + 9) % 12;
    int64_t of_year = (153 * m + 2) / 5 + day - 1;

    return y / 400 * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && leap ? 29 : days[month - 1];
}

/* Reads `count` digits and steps over them; -1: other characters. */
static int digits(const char **at, int count)
{
    int number = 0;

    for (; count > 0; count--, (*at)++) {
        if (**at < '0' || **at > '9')
            return -1;
        number = number * 10 + (**at - '0');
    }
    return number;
}

static bool step(const char **at, char expected)
{
    return *(*at)++ == expected;
}

/* Reads ".25" as microseconds; further digits are ignored. */
static int64_t fraction(const char **at)
{
    int64_t unit = 100000, us = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++, unit /= 10)
        us += unit * (**at - '0');
    return us;
}

/* Reads "Z" or "+01:00" as seconds. */
static bool offset(const char **at, int64_t *seconds)
{
    char sign = *(*at)++;
    int hours, minutes;

    *seconds = 0;
    if (sign == 'Z' || sign == 'z')
        return true;
    if ((sign != '+' && sign != '-') || (hours = digits(at, 2)) < 0 || hours > 23 ||
        !step(at, ':') || (minutes = digits(at, 2)) < 0 || minutes > 59)
        return false;
    *seconds = (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

bool takt_instant_read(const char *text, int64_t *at_us)
{
    const char *at = text;
    int year, month, day, hour, minute, second;
    int64_t east, us = 0;

    if ((year = digits(&at, 4)) < 1970 || !step(&at, '-') || (month = digits(&at, 2)) < 1 ||
        month > 12 || !step(&at, '-') || (day = digits(&at, 2)) < 1 ||
        day > days_of_month(year, month))
        return false;
    if (!strchr("Tt ", *at) || !*at++ || (hour = digits(&at, 2)) < 0 || hour > 23 ||
        !step(&at, ':') || (minute = digits(&at, 2)) < 0 || minute > 59 || !step(&at, ':') ||
        (second = digits(&at, 2)) < 0 || second > 60)
        return false;
    if (*at == '.') {
        at++;
        if (*at < '0' || *at > '9')
            return false;
        us = fraction(&at);
    }
    if (!offset(&at, &east) || *at)
        return false;
    int64_t seconds = days_before(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    if (seconds - east <= 0)
        return false;
    *at_us = (seconds - east) * 1000000 + us;
    return true;
}

const char *takt_instant_write(int64_t at_us, char text[TAKT_INSTANT_SIZE])
{
    time_t seconds = at_us / 1000000;
    struct tm parts;

    gmtime_r(&seconds, &parts);
    size_t used = strftime(text, TAKT_INSTANT_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + used, TAKT_INSTANT_SIZE - used, ".%06dZ", (int)(at_us % 1000000));
    return text;
}
