/*
 * time_text.h: durations and rates as text, read strictly: a whole number and a unit without
 * blanks. An error names the wrong part and what to write instead. The callers decide the range of
 * each field.
 */
#ifndef TAKT_BASE_TIME_TEXT_H
#define TAKT_BASE_TIME_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <takt/error.h>

/* takt_parse_duration and takt_parse_rate, declared in takt/policy.h, are defined in time_text.c.
 */

#define TAKT_DURATION_MAX_US INT64_C(1576800000000000) /* 50 years */
#define TAKT_TOKENS_MAX      INT64_C(1000000000)       /* of a rate */

/* Writes a duration in its largest whole unit ("250ms", "90s", "1day") with NUL, cut to size. */
void takt_format_duration(int64_t duration_us, char *text, size_t size);

/* Writes a rate the way takt_parse_rate reads it ("100/s", "10/90s"). */
void takt_format_rate(int64_t tokens, int64_t period_us, char *text, size_t size);

#define TAKT_SPAN_SIZE 64

/* A duration for people, in one or two units: "0", "12 ms", "1.5 s", "3 min 20 s", "2 days 4 h".
 * Returns `text`. */
const char *takt_format_span(int64_t span_us, char text[TAKT_SPAN_SIZE]);

/* The same in one unit, for estimates: "850 ms", "90 s", "3 min", "12 days". */
const char *takt_format_rough_span(int64_t span_us, char text[TAKT_SPAN_SIZE]);

/* Reads a whole number from 0 to max in decimal digits, without sign, blanks or leading zeros
 * (other readers take 010 for 8). Returns 0, or -1 (outputs untouched). */
int takt_parse_whole(const char *text, int64_t max, int64_t *value);

#endif
