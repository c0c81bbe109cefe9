/*
 * figures.h: what is counted of a worker: how many jobs came how far, limit by limit, how long
 * things took, and how the worker stands.  Plain data: report.c fills it; picture.c, metrics.c and
 * status.c tell of it.
 */
#ifndef TAKT_WORKERS_REPORT_FIGURES_H
#define TAKT_WORKERS_REPORT_FIGURES_H

#include "rate.h"
#include "report.h"

#define FIGURES_BUCKETS      15 /* of a histogram, without the last one, which has no bound */
#define FIGURES_TROUBLES     4
#define FIGURES_TROUBLE_SIZE 256

extern const int64_t figures_bounds_us[FIGURES_BUCKETS];

typedef struct histogram {
    uint64_t counts[FIGURES_BUCKETS + 1]; /* each for itself */
    uint64_t count;
    int64_t sum_us;
} histogram;

void histogram_add(histogram *histogram, int64_t value_us);

struct report_limit {
    report_limit *next;
    char *name;
    uint64_t taken, started, done, retried, dead, given_back, lost;
    uint64_t waiting, put_away, running; /* now */
    histogram waited, late, took;
    rate rate; /* of starts */
};

typedef struct trouble {
    const char *who; /* NULL: none; static */
    char text[FIGURES_TROUBLE_SIZE];
} trouble;

typedef struct figures {
    const char *name;     /* of the program */
    report_limit nowhere; /* jobs that are of no limit that could be told */
    report_limit *limits, *last;
    report_phase phase;
    trouble troubles[FIGURES_TROUBLES];
    uint64_t total; /* jobs; 0: not known */
    bool exact;
    rate rate;       /* of jobs that ended */
    takt_stats acts; /* what the client has done */
    uint64_t lines_lost;
    int64_t started_at_us; /* by the wall clock */
} figures;

/* The limit's figures, made where there are none; NULL: no memory. */
report_limit *figures_get(figures *figures, const char *limit);

/* How many are where: to be moved from one place to another. */
void figures_move(report_limit *limit, report_place from, report_place to);

/* Takes note of a trouble, or of its end (NULL).  Whether anything changed. */
bool figures_trouble(figures *figures, const char *who, const char *text);

/* The trouble to tell first; NULL: none. */
const trouble *figures_first_trouble(const figures *figures);

/* It works, and nothing fails. */
bool figures_is_ready(const figures *figures);

/* Of all limits together; without name, histograms and rate. */
report_limit figures_sum(const figures *figures);

/* "1200 done, 3 failed, 20 running, 500 waiting of 50000". */
void figures_line(const figures *figures, char *text, size_t size);

void figures_free(figures *figures);

#endif
