/*
 * adapt_text.c: reads and describes `adapt` (adapt_text.h). It decides the range of each field;
 * core/brake.c decides what penalties do.
 */
#include "policy/adapt_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/quote.h"
#include "base/time_text.h"
#include "core/brake.h"
#include "policy/field.h"

#define BACKOFF      50
#define RECOVER      10
#define RECOVER_US   INT64_C(60000000)
#define FLOOR        10
#define RECOVER_SIZE 32 /* longer than any valid text */

/* Reads "50%"; the range is 1 to 99. */
static int read_percent(const char *field, const char *text, int64_t *percent, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE], whole[3] = "";
    size_t digits = text != NULL ? strcspn(text, "%") : 0;

    if (text == NULL)
        return 0;
    if (digits < sizeof whole)
        memcpy(whole, text, digits);
    if (strcmp(text + digits, "%") != 0 || takt_parse_whole(whole, 99, percent) != 0 ||
        *percent == 0)
        return takt_fail(error, TAKT_E_POLICY, "adapt.%s: %s: write 1%% to 99%%", field,
                         takt_quote(text, quoted));
    return 0;
}

/* Reads "10%/min", a rate in percents. */
static int read_recover(const char *text, takt_adapt *adapt, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE], rate[RECOVER_SIZE];
    size_t digits = text != NULL ? strcspn(text, "%") : 0;
    int64_t percent, time_us;

    if (text == NULL)
        return 0;
    if (strncmp(text + digits, "%/", 2) == 0 && strlen(text) < sizeof rate) {
        snprintf(rate, sizeof rate, "%.*s%s", (int)digits, text, text + digits + 1);
        if (takt_parse_rate(rate, &percent, &time_us, NULL) == 0 && percent <= TAKT_WHOLE_PERCENT &&
            time_us <= TAKT_RECOVER_MAX_US) {
            adapt->recover = percent;
            adapt->recover_us = time_us;
            return 0;
        }
    }
    return takt_fail(error, TAKT_E_POLICY,
                     "adapt.recover: %s: write 1%% to 100%% per time of at most a day, like "
                     "10%%/min or 5%%/10s",
                     takt_quote(text, quoted));
}

int takt_adapt_read(const takt_adapt_text *text, takt_numbers *numbers, takt_error *error)
{
    takt_adapt read = {BACKOFF, RECOVER, RECOVER_US, FLOOR};
    int code;

    if (text == NULL)
        return 0;
    if (numbers->rule_count == 0)
        return takt_fail(error, TAKT_E_POLICY, "adapt: needs rules; add them or remove adapt");
    code = read_percent("backoff", text->backoff, &read.backoff, error);
    if (code == 0)
        code = read_recover(text->recover, &read, error);
    if (code == 0)
        code = read_percent("floor", text->floor, &read.floor, error);
    if (code != 0)
        return code;
    numbers->adapt = read;
    if (!takt_brake_fits(numbers))
        return takt_fail(error, TAKT_E_POLICY,
                         "adapt: parts of the first rule's rate cannot be kept exactly: it has too "
                         "many digits, or its burst is too large for a slower rate; write a rate "
                         "with fewer digits or a higher floor");
    return 0;
}

void takt_adapt_describe(const takt_adapt *adapt, char *text, size_t size)
{
    char rate[RECOVER_SIZE];

    if (adapt->backoff == 0)
        return;
    takt_format_rate(adapt->recover, adapt->recover_us, rate, sizeof rate);
    takt_field_append(text, size, ", adapt %" PRId64 "%% %.*s%%%s %" PRId64 "%%", adapt->backoff,
                      (int)strcspn(rate, "/"), rate, rate + strcspn(rate, "/"), adapt->floor);
}
