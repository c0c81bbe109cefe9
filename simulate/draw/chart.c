/*
 * chart.c: see chart.h.
 */
#include "simulate/draw/chart.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TICKS_MAX    5
#define HEADING_LEFT 550 /* of the field: above the labels */
#define HEADING_UP   390 /* above the field, with the legend between */
#define LETTER_WIDTH 68  /* of the small text, on average and rather wide */
#define CALENDAR_US  1e7 /* shorter simulations show the time since their start */
#define DAY_US       INT64_C(86400000000)

/* Time has steps of its own: 50 minutes would be an unusual step. */
static const double time_steps[] = {
    1,     2,     5,     10,     20,     50,     100,     200,     500,     1e3,      2e3,
    5e3,   1e4,   2e4,   5e4,    1e5,    2e5,    5e5,     1e6,     2e6,     5e6,      1e7,
    1.5e7, 3e7,   6e7,   12e7,   3e8,    6e8,    9e8,     18e8,    36e8,    72e8,     108e8,
    216e8, 432e8, 864e8, 1728e8, 4320e8, 8640e8, 17280e8, 43200e8, 86400e8, 172800e8, 432000e8};

static double step_for(double max, bool is_time)
{
    double step = 1;

    if (is_time) {
        for (size_t i = 0; i < sizeof time_steps / sizeof *time_steps; i++)
            if (max / time_steps[i] <= TICKS_MAX)
                return time_steps[i];
        return time_steps[sizeof time_steps / sizeof *time_steps - 1];
    }
    while (max / step > TICKS_MAX) {
        if (max / (2 * step) <= TICKS_MAX)
            return 2 * step;
        if (max / (5 * step) <= TICKS_MAX)
            return 5 * step;
        step *= 10;
    }
    return step;
}

double takt_chart_end(double max, bool is_time)
{
    double step = step_for(max > 1 ? max : 1, is_time), end = step;

    while (end < max)
        end += step;
    return end;
}

int takt_chart_x(const takt_chart *chart, double value)
{
    return chart->x + (int)(value / chart->x_max * chart->width + 0.5);
}

int takt_chart_y(const takt_chart *chart, double value)
{
    return chart->y + chart->height - (int)(value / chart->y_max * chart->height + 0.5);
}

/* Writes a tick's value: a number, in millions if all ticks are, or a time in the largest unit in
 * which all ticks are whole. */
static void put_tick(const takt_chart *chart, double value, double step, bool is_time)
{
    static const struct {
        double us;
        const char *name;
    } units[] = {{864e8, "d"}, {36e8, "h"}, {6e7, "min"}, {1e6, "s"}, {1e3, "ms"}, {1, "us"}};
    char text[TAKT_FORMAT_SIZE];
    int i = 0;

    if (!is_time && step >= 1e6) {
        takt_page_put(chart->page, "%lld M", (long long)(value / 1e6 + 0.5));
        return;
    }
    if (!is_time || value == 0) {
        takt_page_put(chart->page, "%s", takt_format_count((int64_t)(value + 0.5), text));
        return;
    }
    while (step < units[i].us)
        i++;
    /* quarters of a minute are written in seconds, those of an hour in minutes */
    if (step == 1.5e7)
        i = 3;
    takt_page_put(chart->page, "%lld %s", (long long)(value / units[i].us + 0.5), units[i].name);
}

static bool is_calendar(const takt_chart *chart)
{
    return chart->x_is_time && chart->start_us > 0 && chart->x_max >= CALENDAR_US;
}

/* Writes a moment: the day, or the time of the day in minutes or seconds. */
static void put_moment(const takt_chart *chart, int64_t at_us, double step_us)
{
    time_t seconds = at_us / 1000000;
    struct tm parts;
    char text[32];

    gmtime_r(&seconds, &parts);
    strftime(text, sizeof text,
             step_us >= (double)DAY_US ? "%d %b"
             : step_us >= 6e7          ? "%H:%M"
                                       : "%H:%M:%S",
             &parts);
    takt_page_put(chart->page, "%s", text);
}

static void put_x_tick(const takt_chart *chart, double value, double step)
{
    int x = takt_chart_x(chart, value), bottom = chart->y + chart->height;

    takt_page_put(chart->page, "<path class='axis' d='M%d %dv40'/>", x, bottom);
    takt_page_put(chart->page, "<text class='t m' x='%d' y='%d'>", x, bottom + 160);
    if (is_calendar(chart))
        put_moment(chart, chart->start_us + (int64_t)value, step);
    else
        put_tick(chart, value, step, chart->x_is_time);
    takt_page_put(chart->page, "</text>\n");
}

/* Ticks of the calendar lie at whole steps of the day, in UTC. */
static void put_x_axis(const takt_chart *chart)
{
    double step = step_for(chart->x_max, chart->x_is_time), first = 0;
    int64_t step_us = (int64_t)step;

    if (is_calendar(chart) && chart->start_us % step_us > 0)
        first = (double)(step_us - chart->start_us % step_us);
    for (double value = first; value <= chart->x_max * 1.0001; value += step)
        put_x_tick(chart, value, step);
}

/* "23 Nov 2026, UTC", or "23 Nov to 2 Dec 2026, UTC" */
static void put_days(const takt_chart *chart)
{
    int64_t end_us = chart->start_us + (int64_t)chart->x_max;
    time_t from = chart->start_us / 1000000, to = end_us / 1000000;
    char text[64] = "", last[32];
    struct tm parts;

    if (chart->start_us / DAY_US != end_us / DAY_US) {
        gmtime_r(&from, &parts);
        strftime(text, sizeof text, "%d %b to ", &parts);
    }
    gmtime_r(&to, &parts);
    strftime(last, sizeof last, "%d %b %Y, UTC", &parts);
    takt_page_put(chart->page, "%s%s", text, last);
}

void takt_chart_frame(const takt_chart *chart, const char *heading, const char *x_label)
{
    double y_step = step_for(chart->y_max, chart->y_is_time);
    int bottom = chart->y + chart->height, right = chart->x + chart->width;

    takt_page_put(chart->page, "<text class='h' x='%d' y='%d'>", chart->x - HEADING_LEFT,
                  chart->y - HEADING_UP);
    takt_page_put_text(chart->page, heading);
    takt_page_put(chart->page, "</text>\n");
    for (int i = 0; i * y_step <= chart->y_max * 1.0001; i++) {
        double value = i * y_step;
        int y = takt_chart_y(chart, value);
        takt_page_put(chart->page, "<path class='%s' d='M%d %dH%d'/>", value == 0 ? "axis" : "grid",
                      chart->x, y, right);
        takt_page_put(chart->page, "<text class='t e' x='%d' y='%d'>", chart->x - 60, y + 42);
        put_tick(chart, value, y_step, chart->y_is_time);
        takt_page_put(chart->page, "</text>\n");
    }
    put_x_axis(chart);
    if (!x_label && !is_calendar(chart))
        return;
    takt_page_put(chart->page, "<text class='t m' x='%d' y='%d'>", chart->x + chart->width / 2,
                  bottom + 330);
    if (x_label)
        takt_page_put_text(chart->page, x_label);
    else
        put_days(chart);
    takt_page_put(chart->page, "</text>\n");
}

void takt_chart_steps(const takt_chart *chart, const char *style, const double *values, int count,
                      double bin, bool filled)
{
    int before = takt_chart_y(chart, filled ? 0 : values[0]);

    takt_page_put(chart->page, "<path class='%s' d='M%d %d", style, chart->x, before);
    for (int i = 0; i < count; i++) {
        double end = bin * (i + 1) < chart->x_max ? bin * (i + 1) : chart->x_max;
        int y = takt_chart_y(chart, values[i]);
        if (y != before)
            takt_page_put(chart->page, "V%d", y);
        before = y;
        if (i + 1 == count || takt_chart_y(chart, values[i + 1]) != y)
            takt_page_put(chart->page, "H%d", takt_chart_x(chart, end));
    }
    if (filled)
        takt_page_put(chart->page, "V%dZ", chart->y + chart->height);
    takt_page_put(chart->page, "'/>\n");
}

void takt_chart_line(const takt_chart *chart, const char *style, const double *values, int count,
                     double bin)
{
    bool down = false; /* whether the pen is down */

    takt_page_put(chart->page, "<path class='%s' d='", style);
    for (int i = 0; i < count; i++) {
        double middle = bin * (i + 0.5) < chart->x_max ? bin * (i + 0.5) : chart->x_max;
        if (values[i] >= 0)
            takt_page_put(chart->page, "%c%d %d", down ? 'L' : 'M', takt_chart_x(chart, middle),
                          takt_chart_y(chart, values[i]));
        if (values[i] >= 0 && !down && (i + 1 == count || values[i + 1] < 0))
            takt_page_put(chart->page, "m-30 0h60"); /* a single value is a dash */
        down = values[i] >= 0;
    }
    takt_page_put(chart->page, "'/>\n");
}

void takt_chart_stroke(const takt_chart *chart, const char *style, double x1, double y1, double x2,
                       double y2)
{
    takt_page_put(chart->page, "<path class='%s' d='M%d %dL%d %d'/>\n", style,
                  takt_chart_x(chart, x1), takt_chart_y(chart, y1), takt_chart_x(chart, x2),
                  takt_chart_y(chart, y2));
}

void takt_chart_bar(const takt_chart *chart, const char *style, double from, double to,
                    double value)
{
    int left = takt_chart_x(chart, from), right = takt_chart_x(chart, to),
        top = takt_chart_y(chart, value);

    takt_page_put(chart->page, "<rect class='%s' x='%d' y='%d' width='%d' height='%d'/>\n", style,
                  left, top, right - left, chart->y + chart->height - top);
}

void takt_chart_keys(const takt_chart *chart, const takt_key *keys, int count)
{
    int x = chart->x - HEADING_LEFT, y = chart->y - HEADING_UP / 2;

    for (int i = 0; i < count; i++) {
        takt_page_put(chart->page, "<path class='%s key' d='M%d %dh130'/>", keys[i].style, x,
                      y - 38);
        takt_page_put(chart->page, "<text class='t' x='%d' y='%d'>", x + 180, y);
        takt_page_put_text(chart->page, keys[i].text);
        takt_page_put(chart->page, "</text>\n");
        x += 180 + (int)strlen(keys[i].text) * LETTER_WIDTH + 170;
    }
}
