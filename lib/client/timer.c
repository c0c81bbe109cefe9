/*
 * timer.c: see timer.h.
 */
#include "client/timer.h"

#include <time.h>

#include <takt/error.h>

#include "base/fork.h"
#include "base/list.h"

int64_t takt_timer_now(void)
{
#ifdef __linux__
    struct timespec now; /* CLOCK_MONOTONIC, used by libuv, stops while the machine sleeps */

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
#else
    return (int64_t)(uv_hrtime() / 1000);
#endif
}

static takt_timer *timer_of(void *handle)
{
    return TAKT_HOLDER(handle, takt_timer, handle);
}

static void set_ref(takt_timer *timer, int64_t at_us)
{
    if (at_us == INT64_MAX)
        uv_unref((uv_handle_t *)&timer->handle);
    else
        uv_ref((uv_handle_t *)&timer->handle);
    timer->armed_us = at_us;
}

#ifdef __linux__

#include <sys/timerfd.h>
#include <unistd.h>

/* Sets the kernel's timer; this also clears an expiry that was not read. */
static void set(takt_timer *timer, int64_t at_us)
{
    struct itimerspec spec = {{0, 0}, {0, 0}};

    if (timer->forks != takt_fork_count)
        return;
    if (at_us != INT64_MAX) {
        int64_t us = at_us > 0 ? at_us : 1; /* all zeros would disarm */
        spec.it_value.tv_sec = (time_t)(us / 1000000);
        spec.it_value.tv_nsec = (long)(us % 1000000 * 1000);
    }
    timerfd_settime(timer->fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void readable(uv_poll_t *handle, int status, int events)
{
    takt_timer *timer = timer_of(handle);

    (void)status;
    (void)events;
    if (timer->forks != takt_fork_count) /* the expiry belongs to the parent */
        uv_poll_stop(handle);
    set_ref(timer, INT64_MAX);
    timer->fired(timer);
    if (timer->armed_us == INT64_MAX && !uv_is_closing((uv_handle_t *)handle))
        set(timer, INT64_MAX); /* not armed again: clear the expiry */
}

int takt_timer_open(takt_timer *timer, uv_loop_t *loop, void (*fired)(takt_timer *timer))
{
    timer->fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (timer->fd < 0)
        return TAKT_E_SYSTEM;
    if (uv_poll_init(loop, &timer->handle, timer->fd) != 0) {
        close(timer->fd);
        return TAKT_E_SYSTEM;
    }
    timer->fired = fired;
    takt_fork_watch();
    timer->forks = takt_fork_count;
    uv_poll_start(&timer->handle, UV_READABLE, readable);
    set_ref(timer, INT64_MAX);
    return 0;
}

void takt_timer_arm(takt_timer *timer, int64_t at_us)
{
    if (timer->armed_us != at_us)
        set(timer, at_us);
    set_ref(timer, at_us);
}

static void closed(uv_handle_t *handle)
{
    takt_timer *timer = timer_of(handle);

    close(timer->fd);
    timer->closed(timer);
}

#else

static void expired(uv_timer_t *handle)
{
    takt_timer *timer = timer_of(handle);
    int64_t at_us = timer->armed_us;

    set_ref(timer, INT64_MAX);
    if (at_us > takt_timer_now()) /* libuv was early */
        takt_timer_arm(timer, at_us);
    else
        timer->fired(timer);
}

int takt_timer_open(takt_timer *timer, uv_loop_t *loop, void (*fired)(takt_timer *timer))
{
    uv_timer_init(loop, &timer->handle);
    timer->fired = fired;
    set_ref(timer, INT64_MAX);
    return 0;
}

void takt_timer_arm(takt_timer *timer, int64_t at_us)
{
    if (timer->armed_us == at_us) {
        set_ref(timer, at_us);
        return;
    }
    uv_timer_stop(&timer->handle);
    if (at_us != INT64_MAX) {
        int64_t wait_us = at_us - takt_timer_now();
        uv_update_time(timer->handle.loop);
        uv_timer_start(&timer->handle, expired, wait_us > 0 ? (uint64_t)(wait_us + 999) / 1000 : 0,
                       0);
    }
    set_ref(timer, at_us);
}

static void closed(uv_handle_t *handle)
{
    timer_of(handle)->closed(timer_of(handle));
}

#endif

void takt_timer_let_loop_end(takt_timer *timer)
{
    uv_unref((uv_handle_t *)&timer->handle);
}

void takt_timer_close(takt_timer *timer, void (*done)(takt_timer *timer))
{
    timer->closed = done;
    uv_close((uv_handle_t *)&timer->handle, closed);
}
