/*
 * format.h: numbers as text for pictures and tables, and the page that texts are written to.
 */
#ifndef TAKT_SIMULATE_DRAW_FORMAT_H
#define TAKT_SIMULATE_DRAW_FORMAT_H

#include <takt/simulate.h>

#include "base/time_text.h"

#define TAKT_FORMAT_SIZE TAKT_SPAN_SIZE /* of every text here, with its NUL */

/* "100 000", with thin spaces (UTF-8) */
const char *takt_format_count(int64_t count, char text[TAKT_FORMAT_SIZE]);

/* a / b with a number of decimals, rounded; "-" if b is 0 */
const char *takt_format_ratio(int64_t a, int64_t b, int decimals, char text[TAKT_FORMAT_SIZE]);

/* "second" or "90 s": a rule's period, to follow "per" */
const char *takt_format_period(int64_t period_us, char text[TAKT_FORMAT_SIZE]);

/* A text written in pieces: after a failed write nothing more is written. */
typedef struct takt_page {
    takt_write_cb write;
    void *data;
    int status;
} takt_page;

__attribute__((format(printf, 2, 3))) void takt_page_put(takt_page *page, const char *format, ...);

void takt_page_put_raw(takt_page *page, const char *text); /* unchanged, of any length */

/* Foreign text, with the special characters of XML and HTML escaped. */
void takt_page_put_text(takt_page *page, const char *text);

#endif
