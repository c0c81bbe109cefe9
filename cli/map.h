/*
 * One `takt map`: what was asked for and how far it has come.  map.c reads lines and decides when
 * it is over, map_jobs.c leads each line through permit and process, map_report.c writes down what
 * came of it.
 */
#ifndef TAKT_CLI_MAP_H
#define TAKT_CLI_MAP_H

#include <stdio.h>

#include <uv.h>

#include "kit/lines.h"
#include "kit/process_group.h"
#include "kit/signals.h"
#include "options.h"
#include "progress.h"
#include "session.h"
#include "shadow.h"

/* The longest word that Linux passes to a command is 128 KiB with its NUL. */
#define TAKT_CLI_LINE_MAX (128 * 1024 - 1)

#define TAKT_CLI_JOBS_MAX   4096
#define TAKT_CLI_FAILED_MAX 1000 /* failed lines that the summary names */

typedef enum takt_cli_job_state { JOB_IDLE, JOB_WAITING, JOB_RUNNING } takt_cli_job_state;

typedef struct takt_cli_mapping takt_cli_mapping;

/* A line under way. */
typedef struct takt_cli_job {
    takt_permit permit;
    takt_process_group process;
    takt_cli_mapping *map;
    struct takt_cli_job *next_idle;
    char *text; /* the line, ours */
    size_t size;
    uint64_t number; /* of the line */
    unsigned attempt;
    takt_cli_job_state state;
    int status;       /* the exit status as a shell tells it; 128 + n for a signal */
    int signal;       /* that ended it; 0: none */
    int start_failed; /* the errno where there was no process; 0: there was */
} takt_cli_job;

/* A line that failed for good. */
typedef struct takt_cli_failure {
    uint64_t number;
    int status; /* -1: it could not become a job */
} takt_cli_failure;

struct takt_cli_mapping {
    /* asked for */
    takt_cli_settings *settings;
    takt_cli_target target;
    takt_cli_wish wish;
    takt_request request; /* of each job */
    char **command;
    unsigned jobs_max;
    unsigned retries;
    const char *input_path, *undone_path, *log_path;
    bool quiet;
    bool has_braces; /* "{}" stands somewhere in the command */

    /* under way */
    takt_cli_session session;
    takt_lines input;
    takt_cli_progress progress;
    takt_signals signals;
    bool had_terminal;
    takt_process_groups processes;
    takt_cli_job *jobs; /* jobs_max of them */
    takt_cli_job *idle;
    unsigned waiting, running, busy; /* busy: also those between two states */

    /* the end */
    bool stopping; /* no more jobs are started */
    bool hurried;  /* by a second signal: what was not read stays unread */
    bool over;
    bool told_rest;   /* that the rest of a pipe is being read */
    bool file_failed; /* the log, or the file for what is not done: told once */
    int signal;       /* that stopped it; 0: none */
    int status;       /* the exit status where something else than a job went wrong; 0: nothing */

    /* what came of it */
    uint64_t done, failed, retried;
    uint64_t left; /* read and not done, other than failed */
    takt_cli_failure failures[TAKT_CLI_FAILED_MAX];
    uint64_t *left_numbers; /* where there is no file for them; at most jobs_max */
    uint64_t starts;        /* of attempts */
    int64_t first_start_us, last_start_us, last_end_us;
    takt_cli_shadows shadows;
    FILE *undone; /* NULL: none */
    int log;      /* -1: none */
};

/* map.c */

/* Starts what can be started, and ends the map when nothing is left.  Called once at the end of
 * each event. */
void takt_cli_map_go_on(takt_cli_mapping *map);

/* Starts no more jobs and gives up those that wait.  The running ones end by themselves.  `status`
 * other than 0 is the exit status. */
void takt_cli_map_stop(takt_cli_mapping *map, int status);

/* map_jobs.c */
int takt_cli_jobs_open(takt_cli_mapping *map); /* 0, or the exit status after a message */
void takt_cli_jobs_free(takt_cli_mapping *map);
void takt_cli_job_begin(takt_cli_mapping *map,
                        const takt_text_line *line); /* there must be an idle one */
void takt_cli_jobs_abandon(takt_cli_mapping *map);   /* those that wait */

/* map_report.c */
int takt_cli_report_open(takt_cli_mapping *map); /* 0, or the exit status after a message */
void takt_cli_report_start(takt_cli_mapping *map, const takt_cli_job *job, int64_t now_us);
void takt_cli_report_end(takt_cli_mapping *map, const takt_cli_job *job);
void takt_cli_report_failed(takt_cli_mapping *map, const takt_cli_job *job);
void takt_cli_report_refused(takt_cli_mapping *map, const takt_text_line *line);
void takt_cli_report_left(takt_cli_mapping *map, const char *text, size_t size, uint64_t number);
int takt_cli_report_close(
    takt_cli_mapping *map); /* the summary; 0, or the exit status after a message */

#endif
