/*
 * How the numbers of `takt simulate` are written: seconds as exact decimals, spans, outages,
 * crashes, moments.
 */
#include <ctype.h>
#include <string.h>
#include <time.h>

#include <takt/takt.h>

#include "kit/message.h"
#include "simulate.h"

#define SECONDS_MAX INT64_C(1576800000) /* 50 years */

const char *takt_cli_decimal(int64_t us, char text[TAKT_CLI_DECIMAL_SIZE])
{
    int size = snprintf(text, TAKT_CLI_DECIMAL_SIZE, "%lld.%06lld", (long long)(us / 1000000),
                        (long long)(us % 1000000));

    while (text[size - 1] == '0')
        size--;
    if (text[size - 1] == '.')
        size--;
    text[size] = '\0';
    return text;
}

int takt_cli_read_decimal(const char *text, size_t size, int64_t *us)
{
    int64_t seconds = 0, fraction = 0, worth = 100000;
    size_t at = 0;

    for (; at < size && isdigit((unsigned char)text[at]); at++) {
        seconds = seconds * 10 + (text[at] - '0');
        if (seconds > SECONDS_MAX)
            return -1;
    }
    if (at == 0)
        return -1;
    if (at < size && text[at] == '.') {
        size_t point = at++;
        for (; at < size && isdigit((unsigned char)text[at]) && worth > 0; at++, worth /= 10)
            fraction += worth * (text[at] - '0');
        if (at == point + 1)
            return -1;
    }
    if (at < size || seconds * 1000000 + fraction > SECONDS_MAX * 1000000)
        return -1;
    *us = seconds * 1000000 + fraction;
    return 0;
}

/* Copies the part before `end` (NULL: all); argp_error if it is too long for any value. */
static const char *part(struct argp_state *state, const char *what, const char *text,
                        const char *end, char copy[64])
{
    size_t size = end ? (size_t)(end - text) : strlen(text);
    char shown[TAKT_QUOTE_SIZE];

    if (size >= 64)
        argp_error(state, "%s: %s is too long", what,
                   takt_quote_bytes(text, size, shown, sizeof(shown)));
    else
        memcpy(copy, text, size);
    copy[size < 64 ? size : 0] = '\0';
    return copy;
}

static int64_t read_duration(struct argp_state *state, const char *what, const char *text)
{
    takt_error error = {0};
    int64_t duration_us = 0;

    if (strcmp(text, "0") != 0 && takt_parse_duration(text, &duration_us, &error) != 0)
        argp_error(state, "%s: %s", what, error.text);
    return duration_us;
}

void takt_cli_read_span(struct argp_state *state, const char *what, const char *text,
                        int64_t *min_us, int64_t *max_us)
{
    const char *dots = strstr(text, "..");
    char copy[64];

    *min_us = read_duration(state, what, part(state, what, text, dots, copy));
    *max_us = dots ? read_duration(state, what, dots + 2) : *min_us;
    if (*min_us > *max_us)
        argp_error(state, "%s %s: write the shorter time first", what, text);
}

/* "10..500" */
static void read_cost_span(struct argp_state *state, const char *text, int32_t *min, int32_t *max)
{
    const char *dots = strstr(text, "..");
    char copy[64];

    part(state, "--cost", text, dots, copy);
    *min = (int32_t)takt_argument_number(state, "--cost", copy, 1, TAKT_COST_MAX);
    *max = dots ? (int32_t)takt_argument_number(state, "--cost", dots + 2, 1, TAKT_COST_MAX) : *min;
    if (*min > *max)
        argp_error(state, "--cost %s: write the lower cost first", text);
}

/* "3", "10..500", "tokens=10..500" */
void takt_cli_read_cost(struct argp_state *state, const char *text, takt_cli_simulate_plan *plan)
{
    takt_bulk *bulk = &plan->bulk;
    const char *number = strchr(text, '=');
    size_t size = number ? (size_t)(number - text) : 0;
    int at = 0;

    if (!number) {
        read_cost_span(state, text, &bulk->cost_min, &bulk->cost_max);
        return;
    }
    while (at < TAKT_AMOUNTS_MAX && bulk->amounts[at].unit)
        at++;
    if (at == TAKT_AMOUNTS_MAX) {
        argp_error(state, "--cost UNIT=A can be given for %d units at most", TAKT_AMOUNTS_MAX);
    } else if (size == 0 || size > TAKT_UNIT_SIZE_MAX) {
        argp_error(state, "--cost %s: write a unit of at most %d bytes, like tokens=10..500", text,
                   TAKT_UNIT_SIZE_MAX);
    } else {
        memcpy(plan->cost_units[at], text, size);
        bulk->amounts[at].unit = plan->cost_units[at];
        read_cost_span(state, number + 1, &bulk->amounts[at].min, &bulk->amounts[at].max);
    }
}

/* "0:1,5:9": one in ten of priority 0, nine of priority 5. */
void takt_cli_read_weights(struct argp_state *state, const char *text,
                           int32_t weights[TAKT_SIM_PRIORITIES])
{
    char copy[64], *rest, *word;

    part(state, "--priorities", text, NULL, copy);
    memset(weights, 0, TAKT_SIM_PRIORITIES * sizeof(*weights));
    for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *colon = strchr(word, ':');
        int64_t weight = 1;
        if (colon) {
            *colon = '\0';
            weight = takt_argument_number(state, "--priorities: a weight", colon + 1, 1, 1000000);
        }
        weights[takt_argument_number(state, "--priorities", word, 0, TAKT_PRIORITY_MAX)] =
            (int32_t)weight;
    }
}

void takt_cli_read_outage(struct argp_state *state, const char *text, takt_outage *outage)
{
    const char *plus = strchr(text, '+');
    char copy[64];

    if (!plus) {
        argp_error(state, "--store-down %s: write when and for how long, like 30s+10s", text);
        return;
    }
    outage->at_us =
        read_duration(state, "--store-down", part(state, "--store-down", text, plus, copy));
    outage->for_us = read_duration(state, "--store-down", plus + 1);
}

void takt_cli_read_crash(struct argp_state *state, const char *text, takt_crash *crash)
{
    const char *at = strchr(text, '@'), *plus = at ? strchr(at, '+') : NULL;
    char copy[64];

    if (!at) {
        argp_error(state,
                   "--crash %s: write how many workers and when, like 3@20s, or 3@20s+5s to "
                   "restart after 5s",
                   text);
        return;
    }
    part(state, "--crash", text, at, copy);
    crash->workers = (int32_t)takt_argument_number(state, "--crash", copy, 1, TAKT_SIM_WORKERS_MAX);
    crash->at_us = read_duration(state, "--crash", part(state, "--crash", at + 1, plus, copy));
    crash->for_us = plus ? read_duration(state, "--crash", plus + 1) : 0;
}

/* The date and the time alone: strptime would take blanks and signs as well. */
static bool is_shaped_like(const char *text, const char *shape)
{
    for (; *shape; shape++, text++)
        if (*shape == '0' ? !isdigit((unsigned char)*text) : *shape != *text)
            return false;
    return true;
}

int64_t takt_cli_read_start(struct argp_state *state, const char *text)
{
    struct tm at = {0}, checked;
    const char *end = NULL;
    char shown[TAKT_QUOTE_SIZE];
    int64_t fraction_us = 0;

    if (is_shaped_like(text, "0000-00-00T00:00:00"))
        end = strptime(text, "%Y-%m-%dT%H:%M:%S", &at);
    if (end && *end == '.') {
        char decimals[16] = "0";
        size_t size = strspn(end + 1, "0123456789");
        memcpy(decimals + 1, end, size < 8 ? size + 1 : 9);
        end = takt_cli_read_decimal(decimals, size < 8 ? size + 2 : 10, &fraction_us) == 0
                  ? end + 1 + size
                  : NULL;
    }
    checked = at;
    time_t seconds = timegm(&checked);
    if (!end || strcmp(end, "Z") != 0 || checked.tm_mday != at.tm_mday ||
        checked.tm_sec != at.tm_sec || seconds < 0 || seconds > 2 * SECONDS_MAX)
        argp_error(state,
                   "--start takes a time in 1970 to 2069 in UTC, like 2026-03-08T00:00:00Z, not %s",
                   takt_quote(text, shown));
    return (int64_t)seconds * 1000000 + fraction_us;
}
