/*
 * report.c: what is told while a worker works: a line of text for each event that matters.
 */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct report {
    report_options options;
    uint64_t done, dead;
};

int report_open(report **report, uv_loop_t *loop, const report_options *options, takt_error *error)
{
    (void)loop;
    *report = calloc(1, sizeof(**report));
    if (!*report) {
        *error = (takt_error){TAKT_E_SYSTEM, "no memory"};
        return TAKT_E_SYSTEM;
    }
    (*report)->options = *options;
    return 0;
}

void report_set_client(report *report, takt_client *client)
{
    (void)report, (void)client;
}

report_limit *report_get_limit(report *report, const char *limit)
{
    (void)report, (void)limit;
    return NULL;
}

void report_set_phase(report *report, report_phase phase)
{
    (void)report, (void)phase;
}

void report_set_trouble(report *report, const char *who, const char *text)
{
    report_say(report, who, text ? text : "works again");
}

void report_set_total(report *report, uint64_t jobs, bool exact)
{
    (void)report, (void)jobs, (void)exact;
}

void report_taken(report *report, report_limit *limit)
{
    (void)report, (void)limit;
}

void report_put_away(report *report, report_limit *limit, bool away)
{
    (void)report, (void)limit, (void)away;
}

void report_started(report *report, report_limit *limit, const char *id, int64_t waited_us,
                    int64_t late_us)
{
    (void)report, (void)limit, (void)id, (void)waited_us, (void)late_us;
}

void report_done(report *report, report_limit *limit, const char *id, unsigned attempt,
                 int64_t took_us)
{
    (void)limit, (void)id, (void)attempt, (void)took_us;
    report->done++;
}

void report_retried(report *report, report_limit *limit, const char *id, unsigned attempt,
                    int64_t after_us, const char *why)
{
    char text[1024];

    (void)limit, (void)after_us;
    snprintf(text, sizeof(text), "%s, attempt %u: %s", id ? id : "-", attempt, why);
    report_say(report, "retry", text);
}

void report_dead(report *report, report_limit *limit, const char *id, const char *where,
                 const char *why)
{
    char text[1024];

    (void)limit;
    report->dead++;
    snprintf(text, sizeof(text), "%s, %s: %s", where, id ? id : "-", why);
    report_say(report, "dead", text);
}

void report_given_back(report *report, report_limit *limit, const char *id)
{
    (void)report, (void)limit, (void)id;
}

void report_say(report *report, const char *event, const char *text)
{
    if (report->options.log != REPORT_LOG_NONE)
        fprintf(stderr, "%s: %s: %s\n", report->options.name, event, text);
}

void report_close(report *report)
{
    char text[128];

    snprintf(text, sizeof(text), "%" PRIu64 " done, %" PRIu64 " dead", report->done, report->dead);
    report_say(report, "end", text);
    free(report);
}
