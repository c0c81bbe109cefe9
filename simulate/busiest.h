/*
 * busiest.h: the most tokens in any window of a given length, wherever it begins, over a long list
 * of instants.
 *
 * A window is half-open: of two tokens exactly one period apart it contains one. Instants may come
 * out of order by up to `slack_us`: they are kept for that time before they count. The instants of
 * the last period are kept, too; if there are too many, neighbours are merged into steps of 1/65536
 * of that time. The result may then be too small by the content of one step, but never too large.
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
    int64_t step_us;        /* instants in one step are merged */
    int64_t max;            /* tokens in the busiest window so far */
    int64_t tokens;         /* of the instants that count */
    takt_instant *instants; /* a ring, sorted: first the instants that count, then the others */
    int first, counting, count, capacity;
} takt_window;

/* Needs zeros before, and takt_window_close after; 0 or TAKT_E_NOMEM. */
int takt_window_open(takt_window *window, int64_t period_us, int64_t slack_us);
void takt_window_close(takt_window *window);

/* 0; or TAKT_E_NOMEM, and the instant is left out. */
int takt_window_add(takt_window *window, int64_t at_us, int64_t tokens);

/* Counts all instants: no earlier one will come. */
void takt_window_flush(takt_window *window);

#endif
