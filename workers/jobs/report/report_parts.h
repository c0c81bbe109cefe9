/*
 * report_parts.h: what a report is made of: shared by report.c, which hears what happens, and
 * report_open.c, which has the parts begin, go on and end.
 */
#ifndef TAKT_WORKERS_REPORT_REPORT_PARTS_H
#define TAKT_WORKERS_REPORT_REPORT_PARTS_H

#include "figures.h"
#include "log.h"
#include "notify.h"
#include "screen.h"
#include "sink.h"
#include "status.h"

#define REPORT_STATUS_SIZE 256

typedef struct metrics_job {
    uv_work_t request;
    bool under_way;
    int failed; /* errno, of the last time */
    int told;   /* the same: said once */
    char *text;
    size_t size;
} metrics_job;

struct report {
    uv_loop_t *loop;
    report_options options;
    report_log log; /* never AUTO */
    bool pictured;
    bool closing;
    int handles; /* that are open */
    takt_client *client;
    figures figures;
    sink sink;
    screen screen;
    log_line line;
    uv_prepare_t flush;
    uv_timer_t again; /* whoever reads standard error is behind */
    uv_timer_t tick;  /* the picture */
    uv_signal_t back; /* a shell stopped us, and wrote there itself meanwhile */
    uv_timer_t slow;  /* the file of metrics, the service manager's status */
    metrics_job metrics;
    notify notify;
    char told[REPORT_STATUS_SIZE]; /* to the service manager, last */
    status *status;
    uint64_t opened_ms;
};

int64_t report_wall_us(void);

/* A line of the log begins and ends; report->line is filled in between.  False: there is none. */
bool report_begin_line(report *report, const char *event);
void report_end_line(report *report);

/* With a picture: a line above it. */
__attribute__((format(printf, 2, 3))) void report_above(report *report, const char *format, ...);

/* The figures with what the client has done by now. */
const figures *report_look(void *report);

void report_tell_manager(report *report);

#endif
