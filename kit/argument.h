/*
 * Numbers and durations on a command line. A wrong one ends the program with a message and the exit
 * status for a wrong command line, as argp_error does.
 */
#ifndef TAKT_KIT_ARGUMENT_H
#define TAKT_KIT_ARGUMENT_H

#include <argp.h>
#include <stdint.h>

/* A word quoted for a message (static memory, until the next call). */
const char *takt_argument_shown(const char *word);

/* A whole number from min to max. */
int64_t takt_argument_number(struct argp_state *state, const char *option, const char *word,
                             int64_t min, int64_t max);

/* A duration in microseconds ("250ms", "5min"), from min_us to max_us; `range` is the message about
 * allowed values: "takes 1ms to 1h". */
int64_t takt_argument_duration(struct argp_state *state, const char *option, const char *word,
                               int64_t min_us, int64_t max_us, const char *range);

/* The same for a duration of any length above 0. */
int64_t takt_argument_any_duration(struct argp_state *state, const char *option, const char *word);

#endif
