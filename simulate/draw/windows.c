/*
 * windows.c: see windows.h.
 */
#include "simulate/draw/windows.h"

#include "rules/window.h"

/* The amounts up to the end of each step. */
typedef struct sums {
    const takt_series *series;
    double upto[TAKT_SERIES_STEPS + 1];
} sums;

static void add_up(sums *all, const takt_series *series, takt_unit unit)
{
    all->series = series;
    all->upto[0] = 0;
    for (int i = 0; i < series->steps; i++)
        all->upto[i + 1] = all->upto[i] + (double)series->step[i].taken.of[unit];
}

/* The amount before that moment. */
static double before(const sums *all, int64_t at_us)
{
    int64_t step = at_us / all->series->step_us;
    double part = (double)(at_us % all->series->step_us) / (double)all->series->step_us;

    if (at_us <= 0)
        return 0;
    if (step >= all->series->steps)
        return all->upto[all->series->steps];
    return all->upto[step] + part * (all->upto[step + 1] - all->upto[step]);
}

/* The begin of the window that holds the moment before end_us; *began_us is that of the last one.
 */
static int64_t window_begin(const takt_simulation *simulation, const takt_rule *rule,
                            const sums *all, int64_t end_us, int64_t *began_us)
{
    int64_t start_us = simulation->bulk.start_us;

    if (rule->align != TAKT_ALIGN_FIRST_USE)
        return takt_window_start(rule, start_us + end_us - 1) - start_us;
    if (*began_us + rule->period_us < end_us &&
        before(all, end_us) > before(all, end_us - all->series->step_us))
        *began_us = end_us - all->series->step_us;
    return *began_us;
}

static double count_at(const takt_simulation *simulation, const takt_rule *rule, const sums *all,
                       int64_t end_us, bool is_fixed, int64_t *began_us)
{
    int64_t from_us = end_us - rule->period_us;

    if (is_fixed)
        from_us = window_begin(simulation, rule, all, end_us, began_us);
    if (is_fixed && from_us + rule->period_us < end_us)
        return 0; /* the last window by first use is over */
    return before(all, end_us) - before(all, from_us);
}

takt_windows_kind takt_windows_count(const takt_simulation *simulation, int rule, int64_t bin_us,
                                     int bins, double *values)
{
    const takt_rule *counted = &simulation->limit.numbers.rules[rule];
    int64_t step_us = simulation->series.step_us, period_us = counted->period_us, began_us = 0;
    bool is_fixed = counted->algorithm->takes & TAKT_TAKES_ALIGN;
    sums all;

    add_up(&all, &simulation->series, counted->unit);
    for (int i = 0; i < bins; i++) {
        int64_t from_us = bin_us * i, end_us = from_us + bin_us;
        values[i] = 0;
        if (period_us <= bin_us)
            values[i] =
                (before(&all, end_us) - before(&all, from_us)) * (double)period_us / (double)bin_us;
        for (int64_t at_us = from_us + step_us; period_us > bin_us && at_us <= end_us;
             at_us += step_us) {
            double value = count_at(simulation, counted, &all, at_us, is_fixed, &began_us);
            values[i] = value > values[i] ? value : values[i];
        }
    }
    return period_us <= bin_us ? TAKT_WINDOWS_MEAN
           : is_fixed          ? TAKT_WINDOWS_FIXED
                               : TAKT_WINDOWS_TRAILING;
}
