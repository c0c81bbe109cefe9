/*
 * figures.h: the figures of a worker: how many jobs are in which state, by limit, how long things
 * took, and the worker's phase. Plain data: jobs.c fills it; picture.c, metrics.c and status.c show
 * it.
 */
#ifndef TAKT_WORKERS_REPORT_FIGURES_H
#define TAKT_WORKERS_REPORT_FIGURES_H

#include "kit/rate.h"
#include "report.h"

#define TAKT_FIGURES_BUCKETS      15 /* of a histogram, without the last one, which has no bound */
#define TAKT_FIGURES_TROUBLES     4
#define TAKT_FIGURES_TROUBLE_SIZE 256
#define TAKT_FIGURES_NOTICE_SIZE  512

extern const int64_t takt_figures_bounds_us[TAKT_FIGURES_BUCKETS];

typedef struct takt_figures_histogram {
    uint64_t counts[TAKT_FIGURES_BUCKETS + 1]; /* each bucket by itself, not cumulative */
    uint64_t count;
    int64_t sum_us;
} takt_figures_histogram;

void takt_figures_histogram_add(takt_figures_histogram *histogram, int64_t value_us);

struct takt_report_limit {
    takt_report_limit *next;
    char *name;
    uint64_t taken, started, done, retried, dead, given_back, lost;
    uint64_t waiting, put_away, running; /* now */
    takt_figures_histogram waited, late, took;
    takt_rate rate; /* jobs started per second */
};

typedef struct takt_report_trouble {
    const char *who; /* its source, a static string; NULL: no trouble */
    char text[TAKT_FIGURES_TROUBLE_SIZE];
} takt_report_trouble;

typedef struct takt_figures {
    const char *name;          /* the program's name */
    takt_report_limit nowhere; /* jobs whose limit is unknown */
    takt_report_limit *limits, *last;
    takt_report_phase phase;
    takt_report_trouble troubles[TAKT_FIGURES_TROUBLES];
    char notice[TAKT_FIGURES_NOTICE_SIZE]; /* what the jobs wait for; "": nothing to tell */
    uint64_t total;                        /* jobs in all; 0: unknown */
    bool exact;
    takt_rate rate;  /* jobs ended per second */
    takt_stats acts; /* the client's counts */
    uint64_t lines_lost;
    int64_t started_at_us; /* by the wall clock */
} takt_figures;

/* The limit's figures; created at the first call. NULL: no memory. */
takt_report_limit *takt_figures_get(takt_figures *figures, const char *limit);

/* Moves a job from one state to another. */
void takt_figures_move(takt_report_limit *limit, takt_report_state from, takt_report_state to);

/* Notes a trouble, or its end (NULL). Returns whether anything changed. */
bool takt_figures_trouble(takt_figures *figures, const char *who, const char *text);

/* The most important trouble; NULL: none. */
const takt_report_trouble *takt_figures_first_trouble(const takt_figures *figures);

/* Whether the worker works and nothing fails. */
bool takt_figures_is_ready(const takt_figures *figures);

/* The sum over all limits, without name, histograms and rate. */
takt_report_limit takt_figures_sum(const takt_figures *figures);

/* "1200 done, 3 failed, 20 running, 500 waiting of 50000". */
void takt_figures_line(const takt_figures *figures, char *text, size_t size);

void takt_figures_free(takt_figures *figures);

#endif
