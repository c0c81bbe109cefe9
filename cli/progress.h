/*
 * How far a map has come, on standard error: a bar that is redrawn on a terminal, a line every few
 * seconds elsewhere.
 */
#ifndef TAKT_CLI_PROGRESS_H
#define TAKT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "kit/rate.h"

/* What is shown. */
typedef struct takt_cli_figures {
    uint64_t ended;  /* jobs that ended, well or not */
    uint64_t failed; /* of these */
    uint64_t running;
    uint64_t waiting;    /* for their slot */
    uint64_t total;      /* 0: not known */
    bool exact;          /* total is counted, not estimated */
    const char *trouble; /* NULL: none */
} takt_cli_figures;

typedef struct takt_cli_progress {
    uv_timer_t timer;
    bool terminal;
    bool drawn; /* there is a bar on the terminal's last line */
    bool open;
    void (*look)(void *data, takt_cli_figures *figures);
    void *data;
    takt_rate rate; /* of jobs that ended */
} takt_cli_progress;

int takt_cli_progress_open(takt_cli_progress *progress, uv_loop_t *loop, bool shown,
                           void (*look)(void *data, takt_cli_figures *figures), void *data);

/* Says a line as takt_message does, and keeps the bar whole. */
__attribute__((format(printf, 2, 3))) void takt_cli_progress_message(takt_cli_progress *progress,
                                                                     const char *format, ...);

/* Wipes the bar and ends.  Safe twice. */
void takt_cli_progress_close(takt_cli_progress *progress);

#endif
