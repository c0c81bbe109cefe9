/*
 * Signals as events of a loop: those that end a command, and those that it passes on.
 */
#ifndef TAKT_KIT_SIGNALS_H
#define TAKT_KIT_SIGNALS_H

#include <uv.h>

typedef struct takt_signals {
    uv_signal_t handles[6]; /* their data belongs to the caller */
    unsigned count;
} takt_signals;

/* `numbers` end with 0. A signal that is ignored (nohup, a shell's background job) stays
 * ignored. */
void takt_signals_open(takt_signals *signals, uv_loop_t *loop, const int *numbers,
                       uv_signal_cb on_signal, void *data);

/* The signals then do not keep the loop alive. */
void takt_signals_unref(takt_signals *signals);

/* Harmless when closed already or never opened. */
void takt_signals_close(takt_signals *signals);

#endif
