/*
 * timer.h: one timer that fires at a given microsecond of the monotonic clock or after it, never
 * before.
 *
 * libuv's timers count whole milliseconds on a clock cached per loop turn, and can fire up to 1 ms
 * early.  On Linux this is a timerfd with an absolute time; elsewhere a libuv timer, rounded up.
 */
#ifndef TAKT_CLIENT_TIMER_H
#define TAKT_CLIENT_TIMER_H

#include <stdint.h>
#include <uv.h>

typedef struct takt_timer {
    void (*fired)(struct takt_timer *timer);
    void (*closed)(struct takt_timer *timer);
    int64_t armed_us; /* INT64_MAX: not armed */
#ifdef __linux__
    uv_poll_t handle;
    int fd;         /* a child after fork shares it with its parent and does not use it */
    unsigned forks; /* number of forks when the timer was opened */
#else
    uv_timer_t handle;
#endif
} takt_timer;

/* The monotonic clock of `armed_us`.  On Linux it counts on while the machine sleeps, as the
 * store's clock does, so a lease ends here when it ends there. */
int64_t takt_timer_now(void);

/* Returns 0 or a code of takt/error.h. */
int takt_timer_open(takt_timer *timer, uv_loop_t *loop, void (*fired)(takt_timer *timer));

/* Fires once, at at_us or as soon as the loop gets to it; INT64_MAX: never.  Replaces the earlier
 * setting.  An armed timer keeps the loop alive. */
void takt_timer_arm(takt_timer *timer, int64_t at_us);

/* The present setting of the timer does not keep the loop alive. */
void takt_timer_let_loop_end(takt_timer *timer);

/* closed() comes when the memory may be freed. */
void takt_timer_close(takt_timer *timer, void (*closed)(takt_timer *timer));

#endif
