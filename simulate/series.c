/*
 * series.c: see series.h.
 */
#include "simulate/series.h"

/* at most; a power of two, so that doubling leads back to the whole period */
#define STEPS_PER_PERIOD 64

void takt_series_init(takt_series *series, int64_t period_us)
{
    int64_t step_us = period_us;

    for (int i = 1; i < STEPS_PER_PERIOD && step_us % 2 == 0; i *= 2)
        step_us /= 2;
    series->step_us = step_us;
}

static void add_waits(takt_series_waits *sum, const takt_series_waits *more)
{
    sum->count += more->count;
    sum->sum_us += more->sum_us;
    if (more->max_us > sum->max_us)
        sum->max_us = more->max_us;
}

static void add_amounts(takt_amounts *sum, const takt_amounts *more)
{
    for (int i = 0; i < TAKT_UNITS; i++)
        sum->of[i] += more->of[i];
}

static void add_step(takt_series_step *sum, const takt_series_step *more)
{
    add_amounts(&sum->taken, &more->taken);
    for (int i = 0; i < TAKT_SIM_PRIORITIES; i++)
        add_waits(&sum->waits[i], &more->waits[i]);
}

static void double_steps(takt_series *series)
{
    for (int i = 0; i < TAKT_SERIES_STEPS; i++) {
        takt_series_step step = {0};
        takt_series_sum(series, 2 * i, 2, &step);
        series->step[i] = step; /* the value was read already */
    }
    series->steps = (series->steps + 1) / 2;
    series->step_us *= 2;
}

void takt_series_add(takt_series *series, int64_t after_us, int priority, takt_amounts taken,
                     int64_t wait_us)
{
    takt_series_waits wait = {1, wait_us, wait_us};
    int64_t step;

    while ((step = after_us / series->step_us) >= TAKT_SERIES_STEPS)
        double_steps(series);
    if (step >= series->steps)
        series->steps = (int)step + 1;
    add_amounts(&series->step[step].taken, &taken);
    add_waits(&series->step[step].waits[priority], &wait);
}

void takt_series_sum(const takt_series *series, int64_t first, int64_t count, takt_series_step *sum)
{
    *sum = (takt_series_step){0};
    for (int64_t i = first; i < first + count && i < series->steps; i++)
        add_step(sum, &series->step[i]);
}
