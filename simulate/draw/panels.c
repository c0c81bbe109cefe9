/*
 * panels.c: see panels.h. Decides which figures are drawn and how they are grouped into bins;
 * chart.c draws the charts.
 */
#include "simulate/draw/panels.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/time_text.h"
#include "policy/unit_text.h"
#include "simulate/draw/windows.h"

/* The field of a panel. */
#define LEFT   750
#define TOP    690
#define WIDTH  3750
#define HEIGHT 1650

#define BARS_MAX        128
#define PERIODS_FEWEST  6 /* with fewer periods, a bin is a part of a period: */
#define BINS_PER_PERIOD 16
#define HEADING_SIZE    160

typedef struct waits {
    double mean[TAKT_SIM_PRIORITIES][TAKT_BINS_MAX]; /* -1: no job started */
    double longest[TAKT_BINS_MAX];
} waits;

static double max(double a, double b)
{
    return a > b ? a : b;
}

/* ---- bins and axes --------------------------------------------------------------------------- */

/* The width of a bin: whole periods of the shortest rule if there are enough of them, else an equal
 * part of one, so that an even pace looks even. */
static int64_t bin_for(double duration_us, int64_t period_us, int64_t step_us)
{
    double periods = duration_us / (double)period_us;
    int64_t bin_us;

    if (periods >= PERIODS_FEWEST)
        bin_us = period_us * ((int64_t)(periods / TAKT_BINS_MAX) + 1);
    else if (periods >= 1)
        bin_us = period_us / BINS_PER_PERIOD;
    else
        bin_us = (int64_t)(duration_us / 48) + 1;
    return bin_us > step_us ? (bin_us + step_us - 1) / step_us * step_us : step_us;
}

static void fill_waits(const takt_simulation *simulation, const takt_axes *axes, waits *filled)
{
    int64_t steps = axes->bin_us / simulation->series.step_us;

    for (int i = 0; i < axes->bins; i++) {
        takt_series_step sum;
        takt_series_sum(&simulation->series, i * steps, steps, &sum);
        filled->longest[i] = 0;
        for (int p = 0; p < TAKT_SIM_PRIORITIES; p++) {
            const takt_series_waits *all = &sum.waits[p];
            filled->mean[p][i] = all->count > 0 ? (double)all->sum_us / (double)all->count : -1;
            filled->longest[i] = max(filled->longest[i], (double)all->max_us);
        }
    }
}

static int bars_of(const takt_simulation *simulation, int *workers_per_bar)
{
    *workers_per_bar = (simulation->bulk.workers + BARS_MAX - 1) / BARS_MAX;
    return (simulation->bulk.workers + *workers_per_bar - 1) / *workers_per_bar;
}

/* Starts per worker: the mean of the workers that share a bar. */
static double bar_value(const takt_simulation *simulation, int bar, int workers_per_bar)
{
    int from = bar * workers_per_bar, to = from + workers_per_bar;
    double sum = 0;

    to = to < simulation->bulk.workers ? to : simulation->bulk.workers;
    for (int i = from; i < to; i++)
        sum += (double)simulation->starts[i];
    return sum / (to - from);
}

static void reach(takt_axes *axes, const takt_simulation *simulation)
{
    double counted[TAKT_BINS_MAX];
    waits filled;
    int per_bar, bars = bars_of(simulation, &per_bar);

    for (int rule = 0; rule < simulation->limit.numbers.rule_count; rule++) {
        double *end = &axes->rule_end[rule];
        takt_windows_count(simulation, rule, axes->bin_us, axes->bins, counted);
        *end = max(*end, (double)simulation->limit.numbers.rules[rule].limit * 1.05);
        for (int i = 0; i < axes->bins; i++)
            *end = max(*end, counted[i]);
    }
    fill_waits(simulation, axes, &filled);
    for (int i = 0; i < axes->bins; i++)
        axes->wait_end = max(axes->wait_end, filled.longest[i]);
    for (int i = 0; i < bars; i++)
        axes->share_end = max(axes->share_end, bar_value(simulation, i, per_bar));
}

static int64_t shortest_period(const takt_simulation *simulation)
{
    const takt_numbers *numbers = &simulation->limit.numbers;
    int64_t period_us = numbers->rules[0].period_us;

    for (int i = 1; i < numbers->rule_count; i++)
        period_us = takt_min(period_us, numbers->rules[i].period_us);
    return period_us;
}

void takt_axes_fit(takt_axes *axes, const takt_simulation *const *simulations, unsigned count)
{
    int64_t step_us = 1;

    *axes = (takt_axes){.duration_us = 1};
    for (unsigned i = 0; i < count; i++) {
        axes->duration_us = max(axes->duration_us, (double)simulations[i]->figures.duration_us);
        axes->duration_us = max(axes->duration_us, (double)simulations[i]->figures.last_start_us);
        step_us = takt_max(step_us, simulations[i]->series.step_us);
    }
    axes->bin_us = bin_for(axes->duration_us, shortest_period(simulations[0]), step_us);
    axes->bins = (int)(axes->duration_us / (double)axes->bin_us) + 1;
    if (axes->bins > TAKT_BINS_MAX)
        axes->bins = TAKT_BINS_MAX;
    for (unsigned i = 0; i < count; i++)
        reach(axes, simulations[i]);
    for (int i = 0; i < TAKT_RULES_MAX; i++)
        axes->rule_end[i] = takt_chart_end(axes->rule_end[i], false);
    axes->wait_end = takt_chart_end(axes->wait_end, true);
    axes->share_end = takt_chart_end(axes->share_end, false);
}

/* ---- the charts ------------------------------------------------------------------------------ */

static void draw_events(const takt_chart *chart, const takt_simulation *simulation)
{
    const takt_bulk *bulk = &simulation->bulk;

    for (unsigned i = 0; i < bulk->outage_count; i++) {
        double from = (double)bulk->outages[i].at_us, to = from + (double)bulk->outages[i].for_us;
        if (from < chart->x_max)
            takt_chart_bar(chart, "outage", from, to < chart->x_max ? to : chart->x_max,
                           chart->y_max);
    }
    for (unsigned i = 0; i < bulk->crash_count; i++) {
        double at = (double)bulk->crashes[i].at_us;
        if (at < chart->x_max)
            takt_chart_stroke(chart, "crash", at, 0, at, chart->y_max);
    }
}

static int add_event_keys(const takt_simulation *simulation, takt_key *keys)
{
    int count = 0;

    if (simulation->bulk.outage_count > 0)
        keys[count++] = (takt_key){"outage", "store away"};
    if (simulation->bulk.crash_count > 0)
        keys[count++] = (takt_key){"crash", "crash"};
    return count;
}

/* What a rule counts, as the beginning of a heading. */
static void name_unit(const takt_rule *rule, const takt_limit *limit,
                      char text[TAKT_UNIT_SIZE_MAX + 1])
{
    const char *name = takt_unit_name_in(limit, rule->unit);

    strcpy(text, name[0] ? name : "tokens");
    text[0] = (char)(text[0] - 'a' + 'A');
}

static void head_rule(const takt_rule *rule, const takt_limit *limit, takt_windows_kind kind,
                      char heading[HEADING_SIZE])
{
    char what[TAKT_UNIT_SIZE_MAX + 1];
    char period[TAKT_FORMAT_SIZE];

    name_unit(rule, limit, what);
    takt_format_period(rule->period_us, period);
    snprintf(heading, HEADING_SIZE,
             kind == TAKT_WINDOWS_MEAN    ? "%s per %s"
             : kind == TAKT_WINDOWS_FIXED ? "%s in the window of one %s"
                                          : "%s in the last %s",
             what, period);
}

static void draw_rule(takt_chart *chart, const takt_axes *axes, const takt_simulation *simulation,
                      int index)
{
    const takt_rule *rule = &simulation->limit.numbers.rules[index];
    double counted[TAKT_BINS_MAX];
    char heading[HEADING_SIZE], quota[96], rate[48];
    takt_key keys[3] = {{"quota", quota}};
    int count = 1 + add_event_keys(simulation, keys + 1);

    head_rule(rule, &simulation->limit,
              takt_windows_count(simulation, index, axes->bin_us, axes->bins, counted), heading);
    takt_format_rate(rule->limit, rule->period_us, rate, sizeof rate);
    snprintf(quota, sizeof quota, rule->burst > 1 ? "quota %s, burst %lld" : "quota %s", rate,
             (long long)rule->burst);
    chart->y_max = axes->rule_end[index];
    takt_chart_frame(chart, heading, NULL);
    takt_chart_steps(chart, "starts", counted, axes->bins, (double)axes->bin_us, true);
    draw_events(chart, simulation);
    takt_chart_stroke(chart, "quota", 0, (double)rule->limit, chart->x_max, (double)rule->limit);
    takt_chart_keys(chart, keys, count);
}

static void draw_waits(takt_chart *chart, const takt_axes *axes, const takt_simulation *simulation)
{
    static const char *const styles[] = {"line p0", "line p1", "line p2", "line p3", "line p4",
                                         "line p5", "line p6", "line p7", "line p8", "line p9"};
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    takt_key keys[TAKT_SIM_PRIORITIES + 1] = {{"longest", "longest"}};
    waits filled;
    int count = 1;

    for (int p = 0; p < TAKT_SIM_PRIORITIES; p++)
        if (simulation->figures.waits[p].count > 0)
            keys[count++] = (takt_key){styles[p], names[p]};
    if (count == 2)
        keys[1].text = "mean";
    fill_waits(simulation, axes, &filled);
    chart->y_max = axes->wait_end;
    chart->y_is_time = true;
    takt_chart_frame(chart, count == 2 ? "How long jobs wait" : "How long jobs wait, by priority",
                     NULL);
    takt_chart_steps(chart, "longest", filled.longest, axes->bins, (double)axes->bin_us, true);
    draw_events(chart, simulation);
    for (int p = 0; p < TAKT_SIM_PRIORITIES; p++)
        if (simulation->figures.waits[p].count > 0)
            takt_chart_line(chart, styles[p], filled.mean[p], axes->bins, (double)axes->bin_us);
    takt_chart_keys(chart, keys, count);
}

static void draw_shares(takt_chart *chart, const takt_axes *axes, const takt_simulation *simulation)
{
    int per_bar, bars = bars_of(simulation, &per_bar);
    char label[64] = "workers";
    double gap = bars > 64 ? 0 : 0.12;

    if (per_bar > 1)
        snprintf(label, sizeof label, "workers, %d to a bar", per_bar);
    chart->x_max = simulation->bulk.workers;
    chart->y_max = axes->share_end;
    chart->x_is_time = false;
    takt_chart_frame(chart, "Starts per worker", label);
    for (int i = 0; i < bars; i++) {
        double from = i * per_bar, to = from + per_bar;
        bool crashed = per_bar == 1 && simulation->crashed[i];
        to = to < chart->x_max ? to : chart->x_max;
        takt_chart_bar(chart, crashed ? "crashed" : "starts", from + gap, to - gap,
                       bar_value(simulation, i, per_bar));
    }
    if (simulation->bulk.crash_count > 0 && per_bar == 1)
        takt_chart_keys(chart, &(takt_key){"crashed", "crashed"}, 1);
}

int takt_panels_count(const takt_simulation *simulation)
{
    return simulation->limit.numbers.rule_count + 2;
}

void takt_panels_draw(takt_page *page, const takt_axes *axes, const takt_simulation *simulation,
                      int panel, int x, int y)
{
    int rules = simulation->limit.numbers.rule_count;
    takt_chart chart = {.page = page,
                        .x = x + LEFT,
                        .y = y + TOP,
                        .width = WIDTH,
                        .height = HEIGHT,
                        .x_max = axes->duration_us,
                        .x_is_time = true,
                        .start_us = simulation->bulk.start_us};

    if (panel < rules)
        draw_rule(&chart, axes, simulation, panel);
    else if (panel == rules)
        draw_waits(&chart, axes, simulation);
    else
        draw_shares(&chart, axes, simulation);
}

/* ---- words ----------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
                                                         const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void takt_simulation_describe(const takt_simulation *simulation, char *text, size_t size)
{
    const takt_algorithm *before = NULL;
    const char *unit;
    char rate[48];

    text[0] = '\0';
    for (int i = 0; i < simulation->limit.numbers.rule_count; i++) {
        const takt_rule *rule = &simulation->limit.numbers.rules[i];
        append(text, size, "%s", i > 0 ? ", " : "");
        if (rule->algorithm != before)
            append(text, size, "%s ", rule->algorithm->name);
        takt_format_rate(rule->limit, rule->period_us, rate, sizeof rate);
        unit = rule->unit == TAKT_UNIT_REQUESTS ? "requests" : simulation->limit.unit;
        append(text, size, "%s%s%s", rate, unit[0] ? " " : "", unit);
        if (rule->burst > 1)
            append(text, size, " burst %lld", (long long)rule->burst);
        before = rule->algorithm;
    }
}
