/*
 * chart.h: one chart of a picture: its place, two axes from zero, and its lines and areas.
 *
 * All lengths are tenths of a pixel, so that a picture consists of whole numbers. Values are mapped
 * to them in floating point, which affects only the drawing.
 */
#ifndef TAKT_SIMULATE_DRAW_CHART_H
#define TAKT_SIMULATE_DRAW_CHART_H

#include <stdbool.h>

#include "simulate/draw/format.h"

typedef struct takt_chart {
    takt_page *page;
    int x, y, width, height;   /* of the area between the axes; y is its upper edge */
    double x_max, y_max;       /* values at the right and upper edges */
    bool x_is_time, y_is_time; /* in microseconds */
    int64_t start_us;          /* x is a time after that moment; 0: the moment does not matter */
} takt_chart;

/* A round value for the end of an axis that must reach `max`. */
double takt_chart_end(double max, bool is_time);

/* Draws heading, grid and axes with labels; `x_label` is below the axis. NULL: the day, of a time
 * by the calendar, or nothing. */
void takt_chart_frame(const takt_chart *chart, const char *heading, const char *x_label);

/* The position of a value. */
int takt_chart_x(const takt_chart *chart, double value);
int takt_chart_y(const takt_chart *chart, double value);

/* Draws values as steps, each `bin` wide: filled down to the axis, or only the upper edge. */
void takt_chart_steps(const takt_chart *chart, const char *style, const double *values, int count,
                      double bin, bool filled);

/* Draws a line through the middles of bins; negative values are gaps. */
void takt_chart_line(const takt_chart *chart, const char *style, const double *values, int count,
                     double bin);

/* A straight line between two points. */
void takt_chart_stroke(const takt_chart *chart, const char *style, double x1, double y1, double x2,
                       double y2);

/* A bar from the axis up. */
void takt_chart_bar(const takt_chart *chart, const char *style, double from, double to,
                    double value);

/* The legend, on a line of its own below the heading. */
typedef struct takt_key {
    const char *style;
    const char *text;
} takt_key;
void takt_chart_keys(const takt_chart *chart, const takt_key *keys, int count);

#endif
