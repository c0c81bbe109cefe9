/*
 * panels.c: see panels.h. Decides which figures are drawn and how they are grouped into bins;
 * chart.c draws the charts.
 */
#include "simulate/draw/panels.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/time_text.h"

#define LEFT            750
#define LEFT_WIDTH      5150
#define RIGHT           6850
#define RIGHT_WIDTH     2450
#define UPPER_HEIGHT    1500
#define LOWER_HEIGHT    1050
#define BARS_MAX        128
#define PERIODS_FEWEST  6 /* with fewer periods, a bin is a part of a period: */
#define BINS_PER_PERIOD 16

typedef struct bins {
    double rate[TAKT_BINS_MAX];                      /* tokens per period of the tightest rule */
    double wait[TAKT_SIM_PRIORITIES][TAKT_BINS_MAX]; /* mean; -1: no job started */
    double longest[TAKT_BINS_MAX];
} bins;

static const takt_rule *tightest(const takt_simulation *simulation)
{
    return &simulation->limit.numbers.rules[simulation->tightest];
}

static double max(double a, double b)
{
    return a > b ? a : b;
}

/* ---- bins and axes --------------------------------------------------------------------------- */

/* The width of a bin: whole periods if there are enough of them, else an equal part of one, so that
 * an even pace looks even. */
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

static void fill_bins(const takt_simulation *simulation, const takt_axes *axes, bins *filled)
{
    int64_t steps = axes->bin_us / simulation->series.step_us;
    double periods = (double)axes->bin_us / (double)tightest(simulation)->period_us;

    for (int i = 0; i < axes->bins; i++) {
        takt_series_step sum;
        takt_series_sum(&simulation->series, i * steps, steps, &sum);
        filled->rate[i] = (double)sum.tokens / periods;
        filled->longest[i] = 0;
        for (int p = 0; p < TAKT_SIM_PRIORITIES; p++) {
            const takt_series_waits *waits = &sum.waits[p];
            filled->wait[p][i] =
                waits->count > 0 ? (double)waits->sum_us / (double)waits->count : -1;
            filled->longest[i] = max(filled->longest[i], (double)waits->max_us);
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

static double close_up_total(const takt_simulation *simulation, double span_us)
{
    double tokens = 0;

    for (int i = 0; i < TAKT_CLOSE_UP_STEPS && (double)simulation->series.close_up_us * i < span_us;
         i++)
        tokens += (double)simulation->series.close_up[i];
    return tokens;
}

static void reach(takt_axes *axes, const takt_simulation *simulation)
{
    const takt_rule *rule = tightest(simulation);
    bins filled;
    int per_bar, bars = bars_of(simulation, &per_bar);

    fill_bins(simulation, axes, &filled);
    axes->rate_end = max(axes->rate_end, (double)rule->limit * 1.05);
    for (int i = 0; i < axes->bins; i++) {
        axes->rate_end = max(axes->rate_end, filled.rate[i]);
        axes->wait_end = max(axes->wait_end, filled.longest[i]);
    }
    for (int i = 0; i < bars; i++)
        axes->share_end = max(axes->share_end, bar_value(simulation, i, per_bar));
    axes->close_up_end = max(axes->close_up_end, close_up_total(simulation, axes->close_up_us));
    axes->close_up_end =
        max(axes->close_up_end, axes->close_up_us / (double)rule->period_us * (double)rule->limit);
}

void takt_axes_fit(takt_axes *axes, const takt_simulation *const *simulations, unsigned count)
{
    int64_t period_us = tightest(simulations[0])->period_us, step_us = 1;

    *axes = (takt_axes){.duration_us = 1};
    for (unsigned i = 0; i < count; i++) {
        axes->duration_us = max(axes->duration_us, (double)simulations[i]->figures.duration_us);
        axes->duration_us = max(axes->duration_us, (double)simulations[i]->figures.last_start_us);
        step_us =
            simulations[i]->series.step_us > step_us ? simulations[i]->series.step_us : step_us;
    }
    axes->close_up_us = (double)period_us * TAKT_CLOSE_UP_PERIODS;
    if (axes->close_up_us > axes->duration_us)
        axes->close_up_us = axes->duration_us;
    axes->bin_us = bin_for(axes->duration_us, period_us, step_us);
    axes->bins = (int)(axes->duration_us / (double)axes->bin_us) + 1;
    if (axes->bins > TAKT_BINS_MAX)
        axes->bins = TAKT_BINS_MAX;
    for (unsigned i = 0; i < count; i++)
        reach(axes, simulations[i]);
    axes->rate_end = takt_chart_end(axes->rate_end, false);
    axes->wait_end = takt_chart_end(axes->wait_end, true);
    axes->share_end = takt_chart_end(axes->share_end, false);
    axes->close_up_end = takt_chart_end(axes->close_up_end, false);
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

static void draw_starts(takt_page *page, const takt_axes *axes, const takt_simulation *simulation,
                        const bins *filled, int y)
{
    const takt_rule *rule = tightest(simulation);
    takt_chart chart = {page,           LEFT, y,    LEFT_WIDTH, UPPER_HEIGHT, axes->duration_us,
                        axes->rate_end, true, false};
    char heading[128], quota[64], period[TAKT_FORMAT_SIZE], rate[48];
    takt_key keys[4];
    int count = 0;

    takt_format_rate(rule->limit, rule->period_us, rate, sizeof rate);
    snprintf(heading, sizeof heading, "Tokens started per %s",
             takt_format_period(rule->period_us, period));
    snprintf(quota, sizeof quota, "quota %s", rate);
    if (simulation->bulk.outage_count > 0)
        keys[count++] = (takt_key){"outage", "outage"};
    if (simulation->bulk.crash_count > 0)
        keys[count++] = (takt_key){"crash", "crash"};
    keys[count++] = (takt_key){"starts", "starts"};
    keys[count++] = (takt_key){"quota", quota};
    takt_chart_frame(&chart, heading, NULL);
    takt_chart_steps(&chart, "starts", filled->rate, axes->bins, (double)axes->bin_us, true);
    draw_events(&chart, simulation);
    takt_chart_stroke(&chart, "quota", 0, (double)rule->limit, chart.x_max, (double)rule->limit);
    takt_chart_keys(&chart, keys, count);
}

static void draw_close_up(takt_page *page, const takt_axes *axes, const takt_simulation *simulation,
                          int y)
{
    const takt_rule *rule = tightest(simulation);
    takt_chart chart = {
        page, RIGHT, y, RIGHT_WIDTH, UPPER_HEIGHT, axes->close_up_us, axes->close_up_end,
        true, false};
    double tokens[TAKT_CLOSE_UP_STEPS], sum = 0, quota_end;
    char heading[128], span[TAKT_FORMAT_SIZE];
    int count = 0;

    for (; count < TAKT_CLOSE_UP_STEPS &&
           (double)simulation->series.close_up_us * count < axes->close_up_us;
         count++)
        tokens[count] = sum += (double)simulation->series.close_up[count];
    snprintf(heading, sizeof heading, "The first %s: tokens in all",
             takt_format_span((int64_t)axes->close_up_us, span));
    quota_end = axes->close_up_us / (double)rule->period_us * (double)rule->limit;
    takt_chart_frame(&chart, heading, NULL);
    takt_chart_steps(&chart, "starts", tokens, count, (double)simulation->series.close_up_us, true);
    takt_chart_stroke(&chart, "quota", 0, 0, axes->close_up_us, quota_end);
}

static void draw_waits(takt_page *page, const takt_axes *axes, const takt_simulation *simulation,
                       const bins *filled, int y)
{
    static const char *const styles[] = {"line p0", "line p1", "line p2", "line p3", "line p4",
                                         "line p5", "line p6", "line p7", "line p8", "line p9"};
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    takt_chart chart = {page,           LEFT, y,   LEFT_WIDTH, LOWER_HEIGHT, axes->duration_us,
                        axes->wait_end, true, true};
    takt_key keys[TAKT_SIM_PRIORITIES + 1] = {{"longest", "longest"}};
    int count = 1;

    for (int p = 0; p < TAKT_SIM_PRIORITIES; p++)
        if (simulation->figures.waits[p].count > 0)
            keys[count++] = (takt_key){styles[p], names[p]};
    if (count == 2)
        keys[1].text = "mean";
    takt_chart_frame(&chart, count == 2 ? "Waits for a slot" : "Waits for a slot, mean by priority",
                     "time");
    takt_chart_steps(&chart, "longest", filled->longest, axes->bins, (double)axes->bin_us, true);
    draw_events(&chart, simulation);
    for (int p = 0; p < TAKT_SIM_PRIORITIES; p++)
        if (simulation->figures.waits[p].count > 0)
            takt_chart_line(&chart, styles[p], filled->wait[p], axes->bins, (double)axes->bin_us);
    takt_chart_keys(&chart, keys, count);
}

static void draw_shares(takt_page *page, const takt_axes *axes, const takt_simulation *simulation,
                        int y)
{
    int per_bar, bars = bars_of(simulation, &per_bar);
    takt_chart chart = {
        page,  RIGHT, y, RIGHT_WIDTH, LOWER_HEIGHT, simulation->bulk.workers, axes->share_end,
        false, false};
    char label[64] = "workers";
    double gap = bars > 64 ? 0 : 0.12;

    if (per_bar > 1)
        snprintf(label, sizeof label, "workers, %d to a bar", per_bar);
    takt_chart_frame(&chart, "Starts per worker", label);
    for (int i = 0; i < bars; i++) {
        double from = i * per_bar, to = from + per_bar < chart.x_max ? from + per_bar : chart.x_max;
        bool crashed = per_bar == 1 && simulation->crashed[i];
        takt_chart_bar(&chart, crashed ? "crashed" : "starts", from + gap, to - gap,
                       bar_value(simulation, i, per_bar));
    }
    if (simulation->bulk.crash_count > 0 && per_bar == 1)
        takt_chart_keys(&chart, &(takt_key){"crashed", "crashed"}, 1);
}

void takt_panels_draw(takt_page *page, const takt_axes *axes, const takt_simulation *simulation,
                      int y)
{
    bins filled;
    int upper = y + 620, lower = upper + UPPER_HEIGHT + 560;
    char name[512];

    fill_bins(simulation, axes, &filled);
    takt_simulation_describe(simulation, name, sizeof name);
    takt_page_put(page, "<text class='name' x='300' y='%d'>", y + 160);
    takt_page_put_text(page, name);
    takt_page_put(page, "</text>\n");
    draw_starts(page, axes, simulation, &filled, upper);
    draw_close_up(page, axes, simulation, upper);
    draw_waits(page, axes, simulation, &filled, lower);
    draw_shares(page, axes, simulation, lower);
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
    char rate[48];

    text[0] = '\0';
    for (int i = 0; i < simulation->limit.numbers.rule_count; i++) {
        const takt_rule *rule = &simulation->limit.numbers.rules[i];
        append(text, size, "%s", i > 0 ? ", " : "");
        if (rule->algorithm != before)
            append(text, size, "%s ", rule->algorithm->name);
        takt_format_rate(rule->limit, rule->period_us, rate, sizeof rate);
        append(text, size, "%s", rate);
        if (rule->burst > 1)
            append(text, size, " burst %lld", (long long)rule->burst);
        before = rule->algorithm;
    }
}
