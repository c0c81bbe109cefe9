/*
 * Signals that end a command, or that it passes on, as events of its loop.
 */
#ifndef TAKT_KIT_SIGNALS_H
#define TAKT_KIT_SIGNALS_H

#include <uv.h>

typedef struct takt_signals {
    uv_signal_t handles[6]; /* their data is the caller's */
    unsigned count;
} takt_signals;

/* `numbers` end with 0.  One that is ignored (nohup, a shell's background job) stays so. */
void takt_signals_open(takt_signals *signals, uv_loop_t *loop, const int *numbers,
                       uv_signal_cb on_signal, void *data);

/* The signals alone do not keep the loop going. */
void takt_signals_unref(takt_signals *signals);

/* Closing twice, or what was not opened, is harmless. */
void takt_signals_close(takt_signals *signals);

#endif
