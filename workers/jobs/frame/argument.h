/*
 * argument.h: words of a command line.  One that is wrong ends the program with a message, as argp
 * has it.
 */
#ifndef TAKT_WORKERS_FRAME_ARGUMENT_H
#define TAKT_WORKERS_FRAME_ARGUMENT_H

#include <argp.h>
#include <stdint.h>

/* A word in a message (static memory, until the next call). */
const char *argument_shown(const char *word);

/* A whole number from 1 to `most`. */
unsigned argument_number(struct argp_state *state, const char *option, const char *word,
                         unsigned most);

/* Such as 250ms or 5min, from least_us to most_us; `range` says that: "takes 1ms to 1h". */
int64_t argument_duration(struct argp_state *state, const char *option, const char *word,
                          int64_t least_us, int64_t most_us, const char *range);

#endif
