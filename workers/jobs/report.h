/*
 * report.h: what is told while a worker works: a picture on a terminal, one line per event
 * otherwise, figures for those who collect them, and how it feels for those who probe.
 *
 * The frame (worker.c) says what happens, by the functions below; what becomes of it is decided
 * here.  All of it on the loop's thread.
 */
#ifndef TAKT_WORKERS_REPORT_H
#define TAKT_WORKERS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <takt/takt.h>
#include <uv.h>

typedef struct report report;
typedef struct report_limit report_limit; /* the figures of one limit */

typedef enum report_log {
    REPORT_LOG_AUTO,
    REPORT_LOG_TEXT,
    REPORT_LOG_JSON,
    REPORT_LOG_NONE
} report_log;

typedef struct report_options {
    const char *name;         /* of the program */
    report_log log;           /* AUTO: a picture on a terminal, else text */
    const char *metrics_file; /* rewritten every few seconds; NULL: none */
    const char *status;       /* where probes and scrapers may ask: "unix:PATH", or a port of the
                                 loopback;       NULL: nowhere */
} report_options;

/* 0, or TAKT_E_SYSTEM and why. */
int report_open(report **report, uv_loop_t *loop, const report_options *options, takt_error *error);

/* The client whose store is told of; NULL before it is open and after it has closed. */
void report_set_client(report *report, takt_client *client);

/* The limit's figures, made at the first call; NULL: no memory (then nothing is counted). */
report_limit *report_get_limit(report *report, const char *limit);

/* How the worker stands; shown by the picture and to those who probe. */
typedef enum report_phase {
    REPORT_STARTING, /* not ready */
    REPORT_WORKING,  /* ready, live */
    REPORT_DRAINING  /* not ready, live */
} report_phase;
void report_set_phase(report *report, report_phase phase);

/* The store or the source of jobs fails (a text), or works again (NULL): ready or not. */
void report_set_trouble(report *report, const char *who, const char *text);

/* How many jobs there are in all, as far as one knows; 0: no idea. */
void report_set_total(report *report, uint64_t jobs, bool exact);

/*
 * A job's way.  `limit` may be NULL.  at waits: taken; waited: its slot came after so long;
 * starts; ended one way or the other.
 */
void report_taken(report *report, report_limit *limit);
void report_put_away(report *report, report_limit *limit, bool away);
void report_started(report *report, report_limit *limit, const char *id, int64_t waited_us,
                    int64_t late_us);
void report_done(report *report, report_limit *limit, const char *id, unsigned attempt,
                 int64_t took_us);
void report_retried(report *report, report_limit *limit, const char *id, unsigned attempt,
                    int64_t after_us, const char *why);
void report_dead(report *report, report_limit *limit, const char *id, const char *where,
                 const char *why);
void report_given_back(report *report, report_limit *limit, const char *id);

/* Something that is no job's: one line. */
void report_say(report *report, const char *event, const char *text);

/* The summary; ends everything that is on the loop. */
void report_close(report *report);

#endif
