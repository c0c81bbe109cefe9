/*
 * argument.c: see argument.h.
 */
#include "argument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <takt/policy.h>

#include "jobs/text/say.h"

#define SHOWN_SIZE 96

const char *argument_shown(const char *word)
{
    static char text[SHOWN_SIZE];

    return say_shown(word, strlen(word), text, sizeof(text));
}

unsigned argument_number(struct argp_state *state, const char *option, const char *word,
                         unsigned most)
{
    char *end;

    errno = 0;
    unsigned long number = strtoul(word, &end, 10);
    if (errno || *end || strspn(word, "0123456789") == 0 || number < 1 || number > most)
        argp_error(state, "%s takes a whole number from 1 to %u, not %s", option, most,
                   argument_shown(word));
    return (unsigned)number;
}

int64_t argument_duration(struct argp_state *state, const char *option, const char *word,
                          int64_t least_us, int64_t most_us, const char *range)
{
    takt_error error = {0};
    int64_t duration_us = 0;

    if (takt_parse_duration(word, &duration_us, &error) != 0)
        argp_error(state, "%s: %s", option, error.text);
    else if (duration_us < least_us || duration_us > most_us)
        argp_error(state, "%s %s", option, range);
    return duration_us;
}
