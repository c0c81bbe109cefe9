/*
 * The timer fires at its time or later, never before.
 */
#include <criterion/criterion.h>

#include "client/timer.h"

static uv_loop_t loop;
static takt_timer timer;
static int fired;
static int64_t due_us;

static void note(takt_timer *of)
{
    cr_assert_eq(of, &timer);
    cr_assert_geq(takt_timer_now(), due_us, "early");
    fired++;
}

static void closed(takt_timer *of)
{
    (void)of;
}

static void open_timer(void)
{
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_timer_open(&timer, &loop, note), 0);
}

static void close_timer(void)
{
    takt_timer_close(&timer, closed);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&loop), 0);
}

TestSuite(timer, .init = open_timer, .fini = close_timer);

Test(timer, never_early)
{
    for (int i = 0; i < 300; i++) {
        due_us = takt_timer_now() + i * 7;
        takt_timer_arm(&timer, due_us);
        uv_run(&loop, UV_RUN_DEFAULT);
        cr_assert_eq(fired, i + 1, "fires once, and the loop is kept alive until then");
    }
}

Test(timer, the_past_fires_at_once)
{
    takt_timer_arm(&timer, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    takt_timer_arm(&timer, -5);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(fired, 2);
}

Test(timer, arming_replaces_and_disarming_lets_the_loop_end)
{
    takt_timer_arm(&timer, takt_timer_now() + INT64_C(3600000000));
    takt_timer_arm(&timer, INT64_MAX);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(fired, 0);
    takt_timer_arm(&timer, takt_timer_now() + INT64_C(3600000000));
    due_us = takt_timer_now() + 100;
    takt_timer_arm(&timer, due_us);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(fired, 1);
}
