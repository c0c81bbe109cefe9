/*
 * The progress of a map, on standard error: a bar that is redrawn on a terminal, otherwise a line
 * every few seconds.
 */
#ifndef TAKT_CLI_MAP_PROGRESS_H
#define TAKT_CLI_MAP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "kit/rate.h"

/* The figures shown. */
typedef struct takt_cli_figures {
    uint64_t ended;  /* jobs that ended, including failed ones */
    uint64_t failed; /* failed jobs */
    uint64_t running;
    uint64_t waiting;    /* jobs that wait for their slot */
    uint64_t total;      /* 0: unknown */
    bool exact;          /* total was counted, not estimated */
    const char *trouble; /* NULL: none */
} takt_cli_figures;

typedef struct takt_cli_progress {
    uv_timer_t timer;
    bool terminal;
    bool drawn; /* a bar is on the terminal's last line */
    bool open;
    void (*look)(void *data, takt_cli_figures *figures);
    void *data;
    takt_rate rate; /* of ended jobs */
} takt_cli_progress;

int takt_cli_progress_open(takt_cli_progress *progress, uv_loop_t *loop, bool shown,
                           void (*look)(void *data, takt_cli_figures *figures), void *data);

/* Prints a line as takt_message does, above the bar. */
__attribute__((format(printf, 2, 3))) void takt_cli_progress_message(takt_cli_progress *progress,
                                                                     const char *format, ...);

/* Wipes the bar. A second call is harmless. */
void takt_cli_progress_close(takt_cli_progress *progress);

#endif
