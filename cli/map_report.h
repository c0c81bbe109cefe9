/*
 * What came of the lines of a `takt map`: the progress and the messages while it runs, the log, the
 * file of lines not done, and the summary.  It decides nothing: a file that cannot be written is
 * noted in `file_failed`, and whoever starts jobs looks at it.
 */
#ifndef TAKT_CLI_MAP_REPORT_H
#define TAKT_CLI_MAP_REPORT_H

#include <stdio.h>

#include "kit/lines.h"
#include "progress.h"
#include "shadow.h"

/* The longest word that Linux passes to a command is 128 KiB with its NUL. */
#define TAKT_CLI_MAP_LINE_MAX (128 * 1024 - 1)

/* A line that became a job, and its last attempt. */
typedef struct takt_cli_map_line {
    char *text; /* ends with a NUL, which `size` does not count */
    size_t size;
    uint64_t number;
    unsigned attempt;
    int status;       /* the exit status as a shell reports it; 128 + n for a signal */
    int signal;       /* that ended it; 0: none */
    int start_failed; /* the errno if there was no process; 0: there was */
} takt_cli_map_line;

/* A line that failed for good. */
typedef struct takt_cli_map_failure {
    uint64_t number;
    int status; /* -1: it could not become a job */
} takt_cli_map_failure;

typedef struct takt_cli_map_report {
    /* the caller's, set before */
    const char *undone_path, *log_path; /* NULL: none */
    bool quiet, json;
    unsigned left_max; /* lines that can be under way at once */

    /* read-only */
    bool file_failed;               /* a file cannot be written; a message was printed */
    uint64_t starts;                /* of attempts */
    uint64_t done, failed, retried; /* `done` and `retried` are the caller's to count */
    uint64_t left;                  /* read and not done, other than failed */
    takt_cli_progress progress;
    takt_cli_shadows shadows; /* the caller's to read */

    /* private */
    takt_cli_map_failure *failures; /* the first ones */
    uint64_t *left_numbers;         /* left_max of them, if there is no file for the lines */
    int64_t first_start_us, last_start_us, last_end_us;
    FILE *undone; /* NULL: none */
    int log;      /* -1: none */
} takt_cli_map_report;

/* Opens the files; `input` must not be the one for lines not done.  0, or the exit status after a
 * message. */
int takt_cli_map_report_open(takt_cli_map_report *report, const takt_lines *input);

/* An attempt, with the instants of its slot and of its start. */
void takt_cli_map_report_start(takt_cli_map_report *report, const takt_cli_map_line *line,
                               int64_t slot_at_us, int64_t now_us);
void takt_cli_map_report_end(takt_cli_map_report *report, const takt_cli_map_line *line);

/* It failed for good. */
void takt_cli_map_report_failed(takt_cli_map_report *report, const takt_cli_map_line *line);

/* It cannot become a job. */
void takt_cli_map_report_refused(takt_cli_map_report *report, const takt_text_line *line);

/* It was read and will not be done. */
void takt_cli_map_report_left(takt_cli_map_report *report, const char *text, size_t size,
                              uint64_t number);

/* Prints the summary of what was read of `input` and closes the files.  0, or the exit status after
 * a message. */
int takt_cli_map_report_close(takt_cli_map_report *report, const takt_lines *input);

/* Safe without open. */
void takt_cli_map_report_free(takt_cli_map_report *report);

#endif
