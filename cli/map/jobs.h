/*
 * The jobs of a `takt map`: each line waits for a permit, runs as a process, and is retried as
 * often as allowed. The caller decides whether more lines follow and when the map ends.
 */
#ifndef TAKT_CLI_MAP_JOBS_H
#define TAKT_CLI_MAP_JOBS_H

#include "common/session.h"
#include "kit/process_group.h"
#include "report.h"

#define TAKT_CLI_MAP_JOBS_MAX 4096

typedef struct takt_cli_map_job takt_cli_map_job;

typedef struct takt_cli_map_jobs {
    /* set by the caller */
    takt_cli_session *session;
    const takt_cli_target *target;
    takt_cli_map_report *report;
    takt_request request; /* of each job */
    char **command;
    unsigned max;     /* jobs at a time */
    unsigned retries; /* of each line */

    /* read-only */
    unsigned waiting, running;
    unsigned busy; /* lines being worked on, in any state */
    bool stopping; /* no more jobs are started */
    bool killed;   /* running jobs have got the signal */
    int status;    /* the exit status of a failure other than a job's; 0: none */

    /* private */
    bool has_braces; /* the command contains "{}" */
    takt_process_groups processes;
    takt_cli_map_job *all; /* an array of `max` */
    takt_cli_map_job *idle;
} takt_cli_map_jobs;

/* 0, or the exit status after a message. */
int takt_cli_map_jobs_open(takt_cli_map_jobs *jobs);

/* Starts a line's job. `busy` must be below max, and the line must be valid as a word of a
 * command. */
void takt_cli_map_jobs_begin(takt_cli_map_jobs *jobs, const takt_text_line *line);

/* Starts no more jobs and gives up waiting ones. Running jobs end by themselves. The first `status`
 * other than 0 is the exit status. A second call is harmless. */
void takt_cli_map_jobs_stop(takt_cli_map_jobs *jobs, int status);

/* Ends the running jobs; call it after a stop. */
void takt_cli_map_jobs_kill(takt_cli_map_jobs *jobs);

/* Closes the handles; no job may be busy. The memory of `jobs` is needed until the loop has closed
 * them. */
void takt_cli_map_jobs_close(takt_cli_map_jobs *jobs);

/* Harmless without open. */
void takt_cli_map_jobs_free(takt_cli_map_jobs *jobs);

#endif
