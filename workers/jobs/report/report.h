/*
 * report.h: what is told while a worker works: a picture on a terminal, one line per event
 * otherwise, figures for those who collect them, and how it feels for those who probe.
 *
 * The frame (worker.c) says what happens, by the functions below; what becomes of it is decided
 * here.  All of it on the loop's thread.  Nothing here keeps the loop alive before report_close.
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
                                 loopback; NULL: nowhere */
} report_options;

/* 0, or TAKT_E_INVALID, TAKT_E_NOMEM, TAKT_E_SYSTEM and why.  From now on SIGPIPE is ignored.  The
 * options' strings must outlive the report. */
int report_open(report **report, uv_loop_t *loop, const report_options *options, takt_error *error);

/* The client whose store is told of; NULL before it is open and before it is closed. */
void report_set_client(report *report, takt_client *client);

/* The limit's figures, made at the first call; NULL: no memory (then it is counted as of none). */
report_limit *report_get_limit(report *report, const char *limit);

/* How the worker stands; shown by the picture and to those who probe. */
typedef enum report_phase {
    REPORT_STARTING, /* not ready */
    REPORT_WORKING,  /* ready, live */
    REPORT_DRAINING  /* not ready, live */
} report_phase;
void report_set_phase(report *report, report_phase phase);

/* The store or the source of jobs fails (a text), or works again (NULL): ready or not.  `who` is
 * static. */
void report_set_trouble(report *report, const char *who, const char *text);

/* How many jobs there are in all, as far as one knows; 0: no idea. */
void report_set_total(report *report, uint64_t jobs, bool exact);

/* Where a job is as far as this worker is concerned. */
typedef enum report_place {
    REPORT_NOWHERE,
    REPORT_WAITING, /* in memory: for its slot, for a retry, for a seat */
    REPORT_PUT_AWAY,
    REPORT_RUNNING
} report_place;

/*
 * A job's way.  `limit` may be NULL where none can be told.  Taken: it waits.  Put away: instead of
 * waiting; not any more: it is nowhere, and may be taken `again`, which is not counted.  Started:
 * waited so long, so late after its slot.  Retried: it waits again.  It ends in one of the other
 * ways, from where it was; what cannot be a job is dead from NOWHERE.
 */
void report_taken(report *report, report_limit *limit, bool again);
void report_put_away(report *report, report_limit *limit, bool away);
void report_started(report *report, report_limit *limit, const char *id, int64_t waited_us,
                    int64_t late_us);
void report_done(report *report, report_limit *limit, const char *id, unsigned attempt,
                 int64_t took_us);
void report_retried(report *report, report_limit *limit, const char *id, unsigned attempt,
                    int64_t after_us, const char *why);
void report_dead(report *report, report_limit *limit, report_place from, const char *id,
                 const char *where, const char *why);
void report_given_back(report *report, report_limit *limit, report_place from, const char *id);
void report_lost(report *report, report_limit *limit, report_place from, const char *id);

/* Something that is no job's: one line. */
void report_say(report *report, const char *event, const char *text);

/* There is a picture: what else is for its terminal goes above it, by report_print (whole lines).
 */
bool report_has_picture(const report *report);
void report_print(report *report, const char *text, size_t size);

/* The summary; ends everything that is on the loop, which has to run until it has nothing left:
 * then the memory is freed.  NULL is harmless. */
void report_close(report *report);

#endif
