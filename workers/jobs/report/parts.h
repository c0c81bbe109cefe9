/*
 * parts.h: the parts of a report: say.c writes messages, standing.c tracks the worker's phase and
 * troubles, jobs.c counts the events of jobs, open.c opens and closes the parts.
 */
#ifndef TAKT_WORKERS_REPORT_PARTS_H
#define TAKT_WORKERS_REPORT_PARTS_H

#include "figures.h"
#include "kit/notify.h"
#include "kit/status_server.h"
#include "log.h"
#include "screen.h"
#include "sink.h"

#define TAKT_REPORT_STATUS_SIZE 256

typedef struct takt_metrics_job {
    uv_work_t request;
    bool under_way;
    int failed; /* errno of the last write; 0: it succeeded */
    int told;   /* the errno that was reported */
    char *text;
    size_t size;
} takt_metrics_job;

struct takt_report {
    uv_loop_t *loop;
    takt_report_options options;
    takt_report_log log; /* never AUTO */
    bool pictured;
    bool closing;
    int handles; /* open handles */
    takt_client *client;
    takt_figures figures;
    takt_sink sink;
    takt_screen screen;
    takt_report_line line;
    uv_prepare_t flush;
    uv_timer_t again; /* standard error was full: try again */
    uv_timer_t tick;  /* draws the picture */
    uv_timer_t slow;  /* the metrics file, and the service manager's status */
    takt_metrics_job metrics;
    takt_notify notify;
    char told[TAKT_REPORT_STATUS_SIZE]; /* the status last sent to the service manager */
    takt_status_server *status;
    uint64_t opened_ms;
};

/* ---- say.c ----------------------------------------------------------------------------------- */

/* Begins and ends a line of the log; the caller fills report->line in between. False: there is no
 * log. */
bool takt_report_say_begin(takt_report *report, const char *event);
void takt_report_say_end(takt_report *report);

/* Writes a line above the picture. */
void takt_report_say_above(takt_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- standing.c ------------------------------------------------------------------------------ */

/* The figures, with the client's present counts. */
const takt_figures *takt_report_standing_look(void *report);

/* Sends the status to the service manager if it has changed. */
void takt_report_standing_tell(takt_report *report);

#endif
