/*
 * See shadow.h.
 */
#include "shadow.h"

#include <stdio.h>

#include "kit/message.h"

#define TEXT_SIZE 320

void takt_cli_shadows_read(const takt_cli_session *session, takt_cli_shadows *shadows)
{
    shadows->count = 0;
    for (size_t i = 0; i < takt_policy_count(session->policy); i++) {
        const char *name = takt_policy_name(session->policy, i);
        takt_shadow seen;
        if (takt_get_shadow(session->client, name, &seen) == 0 && seen.acquires + seen.tries > 0 &&
            shadows->count < TAKT_LEVELS_MAX) {
            shadows->limits[shadows->count].limit = name;
            shadows->limits[shadows->count++].seen = seen;
        }
    }
}

/* Sends the result of one piece of work. */
static void send_one(const char *limit, const takt_shadow *seen)
{
    char span[TAKT_SPAN_SIZE];

    if (seen->waited > 0)
        takt_message("shadow: %s would have let this wait for %s", limit,
                     takt_format_span(seen->max_us, span));
    else if (seen->refused > 0)
        takt_message("shadow: %s would have refused this%s", limit,
                     seen->refused_late > 0   ? ", as too late"
                     : seen->refused_full > 0 ? ", as too many wait"
                                              : "");
    else if (seen->waiting > 0)
        takt_message("shadow: %s would still let this wait", limit);
    else
        takt_message("shadow: %s would have let this start at once", limit);
}

static void say_many(const char *limit, const takt_shadow *seen)
{
    char text[TEXT_SIZE], p50[TAKT_SPAN_SIZE], p99[TAKT_SPAN_SIZE];
    int used = snprintf(text, sizeof(text), "%lld would have waited", (long long)seen->waited);

    if (seen->waited > 0)
        used += snprintf(text + used, sizeof(text) - (size_t)used, ", p50 %s, p99 %s",
                         takt_format_span(seen->p50_us, p50), takt_format_span(seen->p99_us, p99));
    if (seen->waiting > 0)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "; %lld would still wait",
                         (long long)seen->waiting);
    if (seen->refused > 0)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "; %lld refused",
                         (long long)seen->refused);
    if (seen->unmeasured > 0)
        snprintf(text + used, sizeof(text) - (size_t)used, "; %lld not measured",
                 (long long)seen->unmeasured);
    takt_message("shadow: %s: of %lld acquires %s", limit, (long long)seen->acquires, text);
}

void takt_cli_shadows_print(const takt_cli_shadows *shadows)
{
    for (int i = 0; i < shadows->count; i++) {
        const takt_shadow *seen = &shadows->limits[i].seen;
        const char *limit = shadows->limits[i].limit;
        if (seen->acquires > 1)
            say_many(limit, seen);
        else if (seen->acquires == 1)
            send_one(limit, seen);
        else
            takt_message("shadow: %s would have %s", limit,
                         seen->tries_refused > 0 ? "refused this" : "let this start");
    }
}

void takt_cli_shadows_json(const takt_cli_shadows *shadows)
{
    for (int i = 0; i < shadows->count; i++) {
        const takt_shadow *seen = &shadows->limits[i].seen;
        printf("%s{\"limit\":\"%s\",\"acquires\":%lld,\"at_once\":%lld,\"waited\":%lld,"
               "\"refused\":%lld,\"waiting\":%lld,\"unmeasured\":%lld,\"refused_late\":%lld,"
               "\"refused_full\":%lld,\"p50_us\":%lld,\"p99_us\":%lld,\"most_us\":%lld}",
               i > 0 ? "," : ",\"shadow\":[", shadows->limits[i].limit, (long long)seen->acquires,
               (long long)seen->at_once, (long long)seen->waited, (long long)seen->refused,
               (long long)seen->waiting, (long long)seen->unmeasured, (long long)seen->refused_late,
               (long long)seen->refused_full, (long long)seen->p50_us, (long long)seen->p99_us,
               (long long)seen->max_us);
    }
    if (shadows->count > 0)
        putchar(']');
}
