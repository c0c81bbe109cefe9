/*
 * The jobs of a `takt map`: each line waits for a permit, runs as a process, and is tried again as
 * often as was allowed.  Whether there are more lines, and when the map is over, is decided above.
 */
#ifndef TAKT_CLI_MAP_JOBS_H
#define TAKT_CLI_MAP_JOBS_H

#include "kit/process_group.h"
#include "map_report.h"
#include "session.h"

#define TAKT_CLI_MAP_JOBS_MAX 4096

typedef struct takt_cli_map_job takt_cli_map_job;

typedef struct takt_cli_map_jobs {
    /* the caller's, set before */
    takt_cli_session *session;
    const takt_cli_target *target;
    takt_cli_map_report *report;
    takt_request request; /* of each job */
    char **command;
    unsigned max;     /* at a time */
    unsigned retries; /* of each line */

    /* read-only */
    unsigned waiting, running;
    unsigned busy; /* lines under way: also those between two states */
    bool stopping; /* no more jobs are started */
    bool killed;   /* those that ran were told to end */
    int status;    /* the exit status if something else than a job failed; 0: nothing */

    /* private */
    bool has_braces; /* "{}" stands somewhere in the command */
    takt_process_groups processes;
    takt_cli_map_job *all; /* `max` of them */
    takt_cli_map_job *idle;
} takt_cli_map_jobs;

/* 0, or the exit status after a message. */
int takt_cli_map_jobs_open(takt_cli_map_jobs *jobs);

/* Begins a line's job; busy is below max, and the line can be a word of a command. */
void takt_cli_map_jobs_begin(takt_cli_map_jobs *jobs, const takt_text_line *line);

/* Starts no more jobs and gives up those that wait.  The running ones end by themselves.  The first
 * `status` other than 0 is the exit status.  Stopping twice is harmless. */
void takt_cli_map_jobs_stop(takt_cli_map_jobs *jobs, int status);

/* Ends those that run; after a stop. */
void takt_cli_map_jobs_kill(takt_cli_map_jobs *jobs);

/* None is busy.  The memory of `jobs` is needed until the loop has closed its handles. */
void takt_cli_map_jobs_close(takt_cli_map_jobs *jobs);

/* Safe without open. */
void takt_cli_map_jobs_free(takt_cli_map_jobs *jobs);

#endif
