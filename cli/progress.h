/*
 * How far a map has come, on standard error: a bar that is redrawn on a terminal, a line every few
 * seconds elsewhere.
 */
#ifndef TAKT_CLI_PROGRESS_H
#define TAKT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

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

#define TAKT_CLI_SAMPLES 64

typedef struct takt_cli_progress {
    uv_timer_t timer;
    bool terminal;
    bool drawn; /* there is a bar on the terminal's last line */
    bool open;
    void (*look)(void *data, takt_cli_figures *figures);
    void *data;
    struct {
        uint64_t at_ms, ended;
    } samples[TAKT_CLI_SAMPLES]; /* of the last while, to tell the present rate */
    unsigned sample_count;
    double rate; /* jobs that ended per second, over the samples at hand */
} takt_cli_progress;

int takt_cli_progress_open(takt_cli_progress *progress, uv_loop_t *loop, bool shown,
                           void (*look)(void *data, takt_cli_figures *figures), void *data);

/* Says a line as takt_cli_say does, and keeps the bar whole. */
__attribute__((format(printf, 2, 3))) void takt_cli_progress_say(takt_cli_progress *progress,
                                                                 const char *format, ...);

/* Wipes the bar and ends.  Safe twice. */
void takt_cli_progress_close(takt_cli_progress *progress);

#endif
