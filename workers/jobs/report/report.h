/*
 * report.h: reports the work of a worker: a picture on a terminal, otherwise one line per event;
 * figures for metrics, and readiness for probes.
 *
 * The frame (worker.c) calls the functions below for each event. All calls are on the loop's
 * thread. A report does not keep the loop alive before takt_report_close.
 */
#ifndef TAKT_WORKERS_REPORT_H
#define TAKT_WORKERS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <takt/takt.h>
#include <uv.h>

typedef struct takt_report takt_report;
typedef struct takt_report_limit takt_report_limit; /* the figures of one limit */

typedef enum takt_report_log {
    TAKT_REPORT_LOG_AUTO,
    TAKT_REPORT_LOG_TEXT,
    TAKT_REPORT_LOG_JSON,
    TAKT_REPORT_LOG_NONE
} takt_report_log;

typedef struct takt_report_options {
    const char *name;         /* the program's name */
    takt_report_log log;      /* AUTO: a picture on a terminal, else text */
    const char *metrics_file; /* rewritten every few seconds; NULL: no file */
    /* the address for probes and scrapers: "unix:PATH", or a port of the loopback; NULL: none */
    const char *status;
} takt_report_options;

/* 0, or TAKT_E_INVALID, TAKT_E_NOMEM, TAKT_E_SYSTEM and why. SIGPIPE is ignored from then on. The
 * strings of the options must outlive the report. */
int takt_report_open(takt_report **report, uv_loop_t *loop, const takt_report_options *options,
                     takt_error *error);

/* The client whose store and counts are reported; NULL before it is open and before it is
 * closed. */
void takt_report_set_client(takt_report *report, takt_client *client);

/* The limit's figures; created at the first call. NULL: no memory (the job then counts as one
 * without a limit). */
takt_report_limit *takt_report_get_limit(takt_report *report, const char *limit);

/* The worker's phase, for the picture and for probes. */
typedef enum takt_report_phase {
    TAKT_REPORT_STARTING, /* not ready */
    TAKT_REPORT_WORKING,  /* ready, live */
    TAKT_REPORT_DRAINING  /* not ready, live */
} takt_report_phase;
void takt_report_set_phase(takt_report *report, takt_report_phase phase);

/* The store or the source of jobs fails (a text), or works again (NULL), which changes readiness.
 * `who` is a static string. */
void takt_report_set_trouble(takt_report *report, const char *who, const char *text);

/* What the jobs wait for, for the picture; "": nothing to tell. */
void takt_report_set_notice(takt_report *report, const char *text);

/* The number of jobs in all; 0: unknown. */
void takt_report_set_total(takt_report *report, uint64_t jobs, bool exact);

/* The state of a job in this worker. */
typedef enum takt_report_state {
    TAKT_REPORT_NOWHERE,
    TAKT_REPORT_WAITING, /* in memory: for its slot, for its next attempt, for a seat */
    TAKT_REPORT_PUT_AWAY,
    TAKT_REPORT_RUNNING
} takt_report_state;

/*
 * The events of a job. `limit` is NULL if it is unknown. Taken: the job waits; `again`: it was put
 * away before, and is not counted twice. Put away: it waits as a reference, or (`away` false) was
 * fetched. Started: with its wait, and its delay after its slot. Retried: it waits again. The other
 * events end the job in its present state; an invalid job is dead from NOWHERE.
 */
void takt_report_taken(takt_report *report, takt_report_limit *limit, bool again);
void takt_report_put_away(takt_report *report, takt_report_limit *limit, bool away);
void takt_report_started(takt_report *report, takt_report_limit *limit, const char *id,
                         int64_t waited_us, int64_t late_us);
void takt_report_done(takt_report *report, takt_report_limit *limit, const char *id,
                      unsigned attempt, int64_t took_us);
void takt_report_retried(takt_report *report, takt_report_limit *limit, const char *id,
                         unsigned attempt, int64_t after_us, const char *why);
void takt_report_dead(takt_report *report, takt_report_limit *limit, takt_report_state from,
                      const char *id, const char *where, const char *why);
void takt_report_given_back(takt_report *report, takt_report_limit *limit, takt_report_state from,
                            const char *id);
void takt_report_lost(takt_report *report, takt_report_limit *limit, takt_report_state from,
                      const char *id);

/* One line about something else than a job. */
void takt_report_say(takt_report *report, const char *event, const char *text);

/* Whether there is a picture. Other output to its terminal goes above it, by takt_report_print, in
 * whole lines. */
bool takt_report_has_picture(const takt_report *report);
void takt_report_print(takt_report *report, const char *text, size_t size);

/* Writes the summary and closes all handles. The memory is freed when the loop has nothing left to
 * run. NULL is harmless. */
void takt_report_close(takt_report *report);

#endif
