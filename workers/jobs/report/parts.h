/*
 * parts.h: what a report is made of: say.c says, standing.c knows how the worker stands, jobs.c
 * counts what happens to jobs, and open.c has the parts begin, go on and end.
 */
#ifndef TAKT_WORKERS_REPORT_PARTS_H
#define TAKT_WORKERS_REPORT_PARTS_H

#include "figures.h"
#include "log.h"
#include "notify.h"
#include "screen.h"
#include "sink.h"
#include "status.h"

#define TAKT_REPORT_STATUS_SIZE 256

typedef struct takt_metrics_job {
    uv_work_t request;
    bool under_way;
    int failed; /* errno, of the last time */
    int told;   /* the same: said once */
    char *text;
    size_t size;
} takt_metrics_job;

struct takt_report {
    uv_loop_t *loop;
    takt_report_options options;
    takt_report_log log; /* never AUTO */
    bool pictured;
    bool closing;
    int handles; /* that are open */
    takt_client *client;
    takt_figures figures;
    takt_sink sink;
    takt_screen screen;
    takt_report_line line;
    uv_prepare_t flush;
    uv_timer_t again; /* whoever reads standard error is behind */
    uv_timer_t tick;  /* the picture */
    uv_signal_t back; /* a shell stopped us, and wrote there itself meanwhile */
    uv_timer_t slow;  /* the file of metrics, the service manager's status */
    takt_metrics_job metrics;
    takt_notify notify;
    char told[TAKT_REPORT_STATUS_SIZE]; /* to the service manager, last */
    takt_status *status;
    uint64_t opened_ms;
};

/* ---- say.c ----------------------------------------------------------------------------------- */

/* A line of the log begins and ends; report->line is filled in between.  False: there is none. */
bool takt_report_say_begin(takt_report *report, const char *event);
void takt_report_say_end(takt_report *report);

/* With a picture: a line above it. */
void takt_report_say_above(takt_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- standing.c ------------------------------------------------------------------------------ */

/* The figures with what the client has done by now. */
const takt_figures *takt_report_standing_look(void *report);

/* The service manager is told, if that has changed. */
void takt_report_standing_tell(takt_report *report);

#endif
