/*
 * window.h: windows by the clock: which one an instant lies in, and where the following ones begin.
 * Without a timezone they begin at multiples of the period since the epoch. With a timezone, a
 * period that divides a day is counted from each local midnight (a change of the clocks may shorten
 * the day's last window), and whole days are counted from the local 1970-01-01.
 *
 * Every result is computed in closed form: a timezone costs one step per change of its clocks.
 */
#ifndef TAKT_CORE_WINDOW_H
#define TAKT_CORE_WINDOW_H

#include "rules/rule.h"

#define TAKT_WINDOW_END TAKT_EXACT_MAX /* later instants are returned as this one */

/* The begin of the window that contains t_us. */
int64_t takt_window_start(const takt_rule *rule, int64_t t_us);

/* The begin of the n-th window after the one that contains start_us, n >= 0. */
int64_t takt_window_after(const takt_rule *rule, int64_t start_us, int64_t n);

/* How many windows begin after start_us, itself a begin, up to and including until_us. */
int64_t takt_window_count(const takt_rule *rule, int64_t start_us, int64_t until_us);

/* a * b / c rounded down and up, for a, b, c < 2^53, c > 0; at most TAKT_WINDOW_END. */
int64_t takt_mul_div(int64_t a, int64_t b, int64_t c);
int64_t takt_mul_div_up(int64_t a, int64_t b, int64_t c);

/* What windows and logs share: computes tokens and span from limit, period, guard and headroom, in
 * whole tokens per period, and the capacity. */
int takt_window_prepare(takt_rule *rule, takt_error *error);
int64_t takt_window_capacity(const takt_rule *rule);

/* "100/60000000+50000": the tokens of a period, and the guard if there is one. */
void takt_window_write_rule(const takt_rule *rule, takt_writer *writer);
void takt_window_read_rule(takt_rule *rule, takt_reader *reader);

#endif
