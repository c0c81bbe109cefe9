/*
 * busiest.h: the most tokens in any window of a given length, wherever it begins, over a long list
 * of instants.
 *
 * A window is half-open: of two tokens exactly one period apart it holds one.  Instants may come
 * out of order by up to `slack_us`: so long they are kept before they count.  Besides them those of
 * the last period are kept; where they are more than fit, neighbours are merged into steps of
 * 1/65536 of that time, and the result may then be too small by what one step holds, never too
 * large.
 */
#ifndef TAKT_SIMULATE_BUSIEST_H
#define TAKT_SIMULATE_BUSIEST_H

#include <stdint.h>

typedef struct takt_instant {
    int64_t at_us;
    int64_t tokens;
} takt_instant;

typedef struct takt_window {
    int64_t period_us, slack_us;
    int64_t step_us;        /* instants this close are one */
    int64_t max;            /* tokens in the busiest window so far */
    int64_t tokens;         /* of those that count */
    takt_instant *instants; /* a ring, sorted: first those that count, then those that do not yet */
    int first, counting, count, capacity;
} takt_window;

/* Zeros before, and close after; 0 or TAKT_E_NOMEM. */
int takt_window_open(takt_window *window, int64_t period_us, int64_t slack_us);
void takt_window_close(takt_window *window);

/* 0 or TAKT_E_NOMEM with the instant left out. */
int takt_window_add(takt_window *window, int64_t at_us, int64_t tokens);

/* Lets all count: nothing earlier will come. */
void takt_window_flush(takt_window *window);

#endif
