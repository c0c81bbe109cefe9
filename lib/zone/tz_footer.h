/*
 * tz_footer.h: the last line of a timezone file. It gives the rule for the time after the last
 * change in the file's table: a POSIX TZ text like "PST8PDT,M3.2.0,M11.1.0", with the extensions of
 * RFC 8536 (names in <>, times from -167 to 167 hours). This file decides what such a text means;
 * tzif.h reads the rest of the file.
 */
#ifndef TAKT_ZONE_TZ_FOOTER_H
#define TAKT_ZONE_TZ_FOOTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A day of every year, and a time on that day. The clocks before the change show that time. */
typedef struct takt_tz_date {
    enum { TAKT_TZ_WEEKDAY, TAKT_TZ_JULIAN, TAKT_TZ_DAY } kind;
    int month, week, weekday; /* WEEKDAY: 1 to 12; 1 to 5, 5 is the last; 0 is Sunday */
    int day;                  /* JULIAN: 1 to 365, no 29 February counted; DAY: 0 to 365, counted */
    int64_t time_s;
} takt_tz_date;

typedef struct takt_tz_footer {
    int64_t standard_s; /* local time is UTC + standard_s */
    bool has_summer;
    int64_t summer_s;
    takt_tz_date summer_begins, summer_ends;
} takt_tz_footer;

/* Reads the whole text. False: the text is malformed. */
bool takt_tz_footer_read(takt_tz_footer *footer, const char *text, size_t size);

/* The instant of a change in a year, in seconds since the epoch. */
int64_t takt_tz_summer_begins(const takt_tz_footer *footer, int year);
int64_t takt_tz_summer_ends(const takt_tz_footer *footer, int year);

#endif
