/*
 * argument.c: see argument.h.
 */
#include "kit/argument.h"

#include <string.h>

#include <takt/policy.h>

#include "kit/text.h"

const char *takt_argument_shown(const char *word)
{
    static char text[TAKT_QUOTE_SIZE];

    return takt_quote(word, text);
}

int64_t takt_argument_number(struct argp_state *state, const char *option, const char *word,
                             int64_t min, int64_t max)
{
    int64_t number = 0;

    if (takt_parse_whole(word, max, &number) != 0 || number < min)
        argp_error(state, "%s takes a whole number from %lld to %lld, not %s", option,
                   (long long)min, (long long)max, takt_argument_shown(word));
    return number;
}

int64_t takt_argument_duration(struct argp_state *state, const char *option, const char *word,
                               int64_t min_us, int64_t max_us, const char *range)
{
    takt_error error = {0};
    int64_t duration_us = 0;

    if (takt_parse_duration(word, &duration_us, &error) != 0)
        argp_error(state, "%s: %s", option, error.text);
    else if (duration_us < min_us || duration_us > max_us)
        argp_error(state, "%s %s", option, range);
    return duration_us;
}

int64_t takt_argument_any_duration(struct argp_state *state, const char *option, const char *word)
{
    return takt_argument_duration(state, option, word, 1, INT64_MAX, "must be longer than 0");
}
