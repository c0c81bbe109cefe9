/*
 * Short texts, for the cells of a table.
 */
#include <string.h>

#include "top.h"

static const struct {
    const char *name, *in_policy;
    int64_t us;
} units[] = {{"d", "day", INT64_C(86400000000)},
             {"h", "h", INT64_C(3600000000)},
             {"m", "min", 60000000},
             {"s", "s", 1000000},
             {"ms", "ms", 1000},
             {"us", "us", 1}};
#define UNITS (sizeof(units) / sizeof(units[0]))

const char *takt_cli_short_count(int64_t count, char text[TAKT_CLI_CELL_SIZE])
{
    static const char letters[] = "kMGTP";
    int64_t rest = count;
    int letter = -1;

    while (rest >= 100000 && letter + 1 < (int)sizeof(letters) - 1) {
        rest /= 1000;
        letter++;
    }
    snprintf(text, TAKT_CLI_CELL_SIZE, letter < 0 ? "%lld" : "%lld%c", (long long)rest,
             letters[letter < 0 ? 0 : letter]);
    return text;
}

const char *takt_cli_short_span(int64_t span_us, char text[TAKT_CLI_CELL_SIZE])
{
    size_t i = 0;

    if (span_us <= 0)
        return strcpy(text, "0s");
    while (i + 1 < UNITS && span_us < units[i].us)
        i++;
    int used = snprintf(text, TAKT_CLI_CELL_SIZE, "%lld%s", (long long)(span_us / units[i].us),
                        units[i].name);
    int64_t rest = i < 3 ? span_us % units[i].us / units[i + 1].us : 0;
    if (rest > 0)
        snprintf(text + used, TAKT_CLI_CELL_SIZE - (size_t)used, "%lld%s", (long long)rest,
                 units[i + 1].name);
    return text;
}

const char *takt_cli_short_quota(int64_t tokens, int64_t period_us, char text[TAKT_CLI_CELL_SIZE])
{
    char count[TAKT_CLI_CELL_SIZE];
    size_t i = 0;

    takt_cli_short_count(tokens, count);
    while (i + 1 < UNITS && period_us % units[i].us != 0)
        i++;
    if (period_us == units[i].us)
        snprintf(text, TAKT_CLI_CELL_SIZE, "%.12s/%s", count, units[i].in_policy);
    else
        snprintf(text, TAKT_CLI_CELL_SIZE, "%.12s/%lld%s", count,
                 (long long)(period_us / units[i].us), units[i].in_policy);
    return text;
}

const char *takt_cli_store_shown(const char *url, char *text, size_t size)
{
    const char *server = strstr(url, "://");
    const char *user_end = server ? strrchr(url, '@') : NULL;
    int scheme = user_end ? (int)(server + 3 - url) : 0;
    const char *rest = user_end ? user_end + 1 : url;

    snprintf(text, size, "%.*s%.*s", scheme, url, (int)strcspn(rest, "?"), rest);
    return text;
}
