/*
 * chart.h: one chart of a picture: where it lies, its two axes from zero, and what is drawn into
 * it.
 *
 * All lengths are tenths of a pixel, so that a picture is whole numbers; values are mapped onto
 * them in floating point, which decides nothing here but where ink goes.
 */
#ifndef TAKT_SIMULATE_DRAW_CHART_H
#define TAKT_SIMULATE_DRAW_CHART_H

#include <stdbool.h>

#include "simulate/draw/format.h"

typedef struct takt_chart {
    takt_page *page;
    int x, y, width, height;   /* of the field between the axes; y is its upper edge */
    double x_max, y_max;       /* values at its right and upper edges */
    bool x_is_time, y_is_time; /* in microseconds */
} takt_chart;

/* A value that is a good end for an axis that has to reach `most`. */
double takt_chart_end(double max, bool is_time);

/* Heading, grid, axes with their labels; `x_label` (may be NULL) is written below the axis. */
void takt_chart_frame(const takt_chart *chart, const char *heading, const char *x_label);

/* Where values lie. */
int takt_chart_x(const takt_chart *chart, double value);
int takt_chart_y(const takt_chart *chart, double value);

/* A shape of values with one step for each bin, `bin` wide: filled down to the axis, or its upper
 * edge alone. */
void takt_chart_steps(const takt_chart *chart, const char *style, const double *values, int count,
                      double bin, bool filled);

/* A line through the middles of bins; negative values are gaps. */
void takt_chart_line(const takt_chart *chart, const char *style, const double *values, int count,
                     double bin);

/* A straight line between two points. */
void takt_chart_stroke(const takt_chart *chart, const char *style, double x1, double y1, double x2,
                       double y2);

/* A bar from the axis up. */
void takt_chart_bar(const takt_chart *chart, const char *style, double from, double to,
                    double value);

/* Keys to what is drawn, on the line of the heading, from the right to the left. */
typedef struct takt_key {
    const char *style;
    const char *text;
} takt_key;
void takt_chart_keys(const takt_chart *chart, const takt_key *keys, int count);

#endif
