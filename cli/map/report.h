/*
 * The results of a `takt map`: progress and messages while it runs, the log, the file of undone
 * lines, and the summary. It decides nothing: a failed write sets `file_failed`, which the caller
 * checks before it starts jobs.
 */
#ifndef TAKT_CLI_MAP_REPORT_H
#define TAKT_CLI_MAP_REPORT_H

#include <stdio.h>

#include "common/shadow.h"
#include "kit/lines.h"
#include "progress.h"

/* Linux passes words of up to 128 KiB to a command, including the NUL. */
#define TAKT_CLI_MAP_LINE_MAX (128 * 1024 - 1)

/* The line of a job, and the job's last attempt. */
typedef struct takt_cli_map_line {
    char *text; /* ends with a NUL that `size` does not count */
    size_t size;
    uint64_t number;
    unsigned attempt;
    int status;       /* the exit status as a shell reports it; 128 + n for signal n */
    int signal;       /* the signal that ended the process; 0: none */
    int start_failed; /* the errno if no process was started; 0: one was started */
} takt_cli_map_line;

/* A line that failed for good. */
typedef struct takt_cli_map_failure {
    uint64_t number;
    int status; /* -1: the line could not become a job */
} takt_cli_map_failure;

typedef struct takt_cli_map_report {
    /* set by the caller */
    const char *undone_path, *log_path; /* NULL: none */
    bool quiet, json;
    unsigned left_max; /* lines that can be worked on at once */

    /* read-only */
    bool file_failed;               /* a file cannot be written; a message was printed */
    uint64_t starts;                /* attempts started */
    uint64_t done, failed, retried; /* the caller counts `done` and `retried` */
    uint64_t left;                  /* lines read, and neither done nor failed */
    takt_cli_progress progress;
    takt_cli_shadows shadows; /* filled by the caller */

    /* private */
    takt_cli_map_failure *failures; /* the first failures */
    uint64_t *left_numbers;         /* an array of left_max, if there is no file for undone lines */
    int64_t first_start_us, last_start_us, last_end_us;
    FILE *undone; /* NULL: none */
    int log;      /* -1: none */
} takt_cli_map_report;

/* Opens the files. 0, or the exit status after a message. */
int takt_cli_map_report_open(takt_cli_map_report *report);

/* Reports an attempt, with its slot and its start. */
void takt_cli_map_report_start(takt_cli_map_report *report, const takt_cli_map_line *line,
                               int64_t slot_at_us, int64_t now_us);
void takt_cli_map_report_end(takt_cli_map_report *report, const takt_cli_map_line *line);

/* Reports a line that failed for good. */
void takt_cli_map_report_failed(takt_cli_map_report *report, const takt_cli_map_line *line);

/* Reports a line that cannot become a job. */
void takt_cli_map_report_refused(takt_cli_map_report *report, const takt_text_line *line);

/* Reports a line that was read and will not be done. */
void takt_cli_map_report_left(takt_cli_map_report *report, const char *text, size_t size,
                              uint64_t number);

/* Prints the summary of the lines read from `input` and closes the files. 0, or the exit status
 * after a message. */
int takt_cli_map_report_close(takt_cli_map_report *report, const takt_lines *input);

/* Harmless without open. */
void takt_cli_map_report_free(takt_cli_map_report *report);

#endif
