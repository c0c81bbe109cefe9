/*
 * Signals as events of a loop: those that end a command, and those that it passes on.
 */
#ifndef TAKT_KIT_SIGNALS_H
#define TAKT_KIT_SIGNALS_H

#include <stdbool.h>

#include <uv.h>

/* SIGINT, SIGTERM and SIGHUP, which end a program, or SIGHUP lets it read its policy again. */
extern const int takt_signals_ending[];

typedef struct takt_signals {
    uv_signal_t handles[6]; /* their data belongs to the caller */
    unsigned count;
    bool had_terminal; /* when they were opened */
    bool rereads;      /* set before opening: SIGHUP reads the policy again, also under nohup */
    bool under_nohup;  /* SIGHUP was ignored when they were opened */
} takt_signals;

/* `numbers` end with 0. A signal that is ignored (nohup, a shell's background job) stays ignored,
 * but for the SIGHUP of a program that rereads: one that starts no children, which would inherit
 * its default action. */
void takt_signals_open(takt_signals *signals, uv_loop_t *loop, const int *numbers,
                       uv_signal_cb on_signal, void *data);

/* Whether the signal is a SIGHUP to read the policy again. The SIGHUP of a terminal that has closed
 * ends the program, except under nohup. */
bool takt_signals_reread(const takt_signals *signals, int number);

/* Writing to a pipe or socket whose reader has gone fails, and ends no program.  For whoever writes
 * to some; a library must not do that. */
void takt_signals_ignore_broken_pipes(void);

/* The signals then do not keep the loop alive. */
void takt_signals_unref(takt_signals *signals);

/* Harmless when closed already or never opened. */
void takt_signals_close(takt_signals *signals);

#endif
