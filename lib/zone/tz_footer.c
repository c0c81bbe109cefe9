/*
 * tz_footer.c: reads a POSIX TZ text and computes the changes of a year (tz_footer.h). tzif.c reads
 * the rest of the file.
 */
#include "zone/tz_footer.h"

#include "base/text.h"

#define HOUR_S INT64_C(3600)
#define DAY_S  (24 * HOUR_S)

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Skips "PST" or "<+0330>". */
static void read_name(takt_reader *reader)
{
    bool quoted = takt_read_if(reader, '<');
    int letters = 0;

    for (; reader->at < reader->end; reader->at++, letters++) {
        char c = *reader->at;
        bool sign_or_digit = c == '+' || c == '-' || (c >= '0' && c <= '9');
        if (!is_letter(c) && !(quoted && sign_or_digit))
            break;
    }
    if (letters < 3)
        reader->bad = true;
    if (quoted)
        takt_read_char(reader, '>');
}

/* Reads "[+-]hh[:mm[:ss]]" as seconds. */
static int64_t read_time(takt_reader *reader, int64_t hours_max)
{
    bool negative = takt_read_if(reader, '-');
    int64_t time_s;

    if (!negative)
        takt_read_if(reader, '+');
    time_s = takt_read_int(reader, 0, hours_max) * HOUR_S;
    if (takt_read_if(reader, ':')) {
        time_s += takt_read_int(reader, 0, 59) * 60;
        if (takt_read_if(reader, ':'))
            time_s += takt_read_int(reader, 0, 59);
    }
    return negative ? -time_s : time_s;
}

/* Reads ",M3.2.0/2", ",J60" or ",59/-1:30". */
static takt_tz_date read_date(takt_reader *reader)
{
    takt_tz_date date = {.kind = TAKT_TZ_DAY, .time_s = 2 * HOUR_S};

    takt_read_char(reader, ',');
    if (takt_read_if(reader, 'M')) {
        date.kind = TAKT_TZ_WEEKDAY;
        date.month = (int)takt_read_int(reader, 1, 12);
        takt_read_char(reader, '.');
        date.week = (int)takt_read_int(reader, 1, 5);
        takt_read_char(reader, '.');
        date.weekday = (int)takt_read_int(reader, 0, 6);
    } else if (takt_read_if(reader, 'J')) {
        date.kind = TAKT_TZ_JULIAN;
        date.day = (int)takt_read_int(reader, 1, 365);
    } else {
        date.day = (int)takt_read_int(reader, 0, 365);
    }
    if (takt_read_if(reader, '/'))
        date.time_s = read_time(reader, 167);
    return date;
}

bool takt_tz_footer_read(takt_tz_footer *footer, const char *text, size_t size)
{
    takt_reader reader = {text, text + size, false};
    takt_tz_footer read = {0};

    read_name(&reader);
    read.standard_s = -read_time(&reader, 24); /* zones west of Greenwich are positive there */
    if (reader.at < reader.end) {
        read.has_summer = true;
        read_name(&reader);
        read.summer_s = read.standard_s + HOUR_S;
        if (reader.at < reader.end && *reader.at != ',')
            read.summer_s = -read_time(&reader, 24);
        read.summer_begins = read_date(&reader);
        read.summer_ends = read_date(&reader);
    }
    if (!takt_read_done(&reader))
        return false;
    *footer = read;
    return true;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* The days from the epoch to 1 January of a year; the year is 1970 or later. */
static int64_t days_to_year(int year)
{
    int before = year - 1;

    return 365 * (int64_t)(year - 1970) + (before / 4 - before / 100 + before / 400) - 477;
}

static int64_t days_to_month(int year, int month)
{
    static const int16_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

    return days_to_year(year) + before[month - 1] + (month > 2 && is_leap(year));
}

/* The day of a date in a year, counted from the epoch. The epoch was a Thursday. */
static int64_t day_of(const takt_tz_date *date, int year)
{
    int64_t first, day, next;

    switch (date->kind) {
    case TAKT_TZ_JULIAN:
        return days_to_year(year) + date->day - 1 + (date->day > 59 && is_leap(year));
    case TAKT_TZ_WEEKDAY:
        first = days_to_month(year, date->month);
        next = date->month == 12 ? days_to_year(year + 1) : days_to_month(year, date->month + 1);
        day = first + (date->weekday - (first + 4) % 7 + 7) % 7 + 7 * (date->week - 1);
        return day < next ? day : day - 7;
    default:
        return days_to_year(year) + date->day;
    }
}

int64_t takt_tz_summer_begins(const takt_tz_footer *footer, int year)
{
    const takt_tz_date *date = &footer->summer_begins;

    return day_of(date, year) * DAY_S + date->time_s - footer->standard_s;
}

int64_t takt_tz_summer_ends(const takt_tz_footer *footer, int year)
{
    const takt_tz_date *date = &footer->summer_ends;

    return day_of(date, year) * DAY_S + date->time_s - footer->summer_s;
}
