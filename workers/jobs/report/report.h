/*
 * report.h: what is told while a worker works: a picture on a terminal, one line per event
 * otherwise, figures for those who collect them, and how it feels for those who probe.
 *
 * The frame (worker.c) says what happens, by the functions below; what becomes of it is decided
 * here.  All of it on the loop's thread.  Nothing here keeps the loop alive before
 * takt_report_close.
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
    const char *name;         /* of the program */
    takt_report_log log;      /* AUTO: a picture on a terminal, else text */
    const char *metrics_file; /* rewritten every few seconds; NULL: none */
    const char *status;       /* where probes and scrapers may ask: "unix:PATH", or a port of the
                                 loopback; NULL: nowhere */
} takt_report_options;

/* 0, or TAKT_E_INVALID, TAKT_E_NOMEM, TAKT_E_SYSTEM and why.  From now on SIGPIPE is ignored.  The
 * options' strings must outlive the report. */
int takt_report_open(takt_report **report, uv_loop_t *loop, const takt_report_options *options,
                     takt_error *error);

/* The client whose store is told of; NULL before it is open and before it is closed. */
void takt_report_set_client(takt_report *report, takt_client *client);

/* The limit's figures, made at the first call; NULL: no memory (then it is counted as of none). */
takt_report_limit *takt_report_get_limit(takt_report *report, const char *limit);

/* How the worker stands; shown by the picture and to those who probe. */
typedef enum takt_report_phase {
    TAKT_REPORT_STARTING, /* not ready */
    TAKT_REPORT_WORKING,  /* ready, live */
    TAKT_REPORT_DRAINING  /* not ready, live */
} takt_report_phase;
void takt_report_set_phase(takt_report *report, takt_report_phase phase);

/* The store or the source of jobs fails (a text), or works again (NULL): ready or not.  `who` is
 * static. */
void takt_report_set_trouble(takt_report *report, const char *who, const char *text);

/* What the jobs wait for, for the picture; "": nothing that would have to be said. */
void takt_report_set_notice(takt_report *report, const char *text);

/* How many jobs there are in all, as far as one knows; 0: no idea. */
void takt_report_set_total(takt_report *report, uint64_t jobs, bool exact);

/* Where a job is as far as this worker is concerned. */
typedef enum takt_report_state {
    TAKT_REPORT_NOWHERE,
    TAKT_REPORT_WAITING, /* in memory: for its slot, for a retry, for a seat */
    TAKT_REPORT_PUT_AWAY,
    TAKT_REPORT_RUNNING
} takt_report_state;

/*
 * A job's way.  `limit` may be NULL where none can be told.  Taken: it waits.  Put away: instead of
 * waiting; not any more: it is nowhere, and may be taken `again`, which is not counted.  Started:
 * waited so long, so late after its slot.  Retried: it waits again.  It ends in one of the other
 * ways, from where it was; what cannot be a job is dead from NOWHERE.
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

/* Something that is no job's: one line. */
void takt_report_say(takt_report *report, const char *event, const char *text);

/* There is a picture: what else is for its terminal goes above it, by takt_report_print (whole
 * lines).
 */
bool takt_report_has_picture(const takt_report *report);
void takt_report_print(takt_report *report, const char *text, size_t size);

/* The summary; ends everything that is on the loop, which has to run until it has nothing left:
 * then the memory is freed.  NULL is harmless. */
void takt_report_close(takt_report *report);

#endif
