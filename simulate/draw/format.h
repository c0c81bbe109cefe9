/*
 * format.h: numbers for a person who looks at a picture or a table, and the text that they are put
 * into.
 */
#ifndef TAKT_SIMULATE_DRAW_FORMAT_H
#define TAKT_SIMULATE_DRAW_FORMAT_H

#include <takt/simulate.h>

#include "base/time_text.h"

#define TAKT_FORMAT_SIZE TAKT_SPAN_SIZE /* of every text here, with its NUL */

/* "100 000", with thin spaces (UTF-8) */
const char *takt_format_count(int64_t count, char text[TAKT_FORMAT_SIZE]);

/* a / b with so many decimals, rounded; "-" where b is 0 */
const char *takt_format_ratio(int64_t a, int64_t b, int decimals, char text[TAKT_FORMAT_SIZE]);

/* "second" or "90 s": a rule's period behind "per" */
const char *takt_format_period(int64_t period_us, char text[TAKT_FORMAT_SIZE]);

/* A text that is written piece by piece: once a write has failed, nothing more is written. */
typedef struct takt_page {
    takt_write_cb write;
    void *data;
    int status;
} takt_page;

__attribute__((format(printf, 2, 3))) void takt_page_put(takt_page *page, const char *format, ...);

void takt_page_put_raw(takt_page *page, const char *text); /* as it is, of any length */

/* Somebody else's text, with what XML and HTML give a meaning to made harmless. */
void takt_page_put_text(takt_page *page, const char *text);

#endif
