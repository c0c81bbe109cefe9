/*
 * standing.c: the worker's phase (starting, working, draining), its troubles, and the status last
 * sent to the service manager.
 */
#include <stdio.h>
#include <string.h>

#include "parts.h"

const takt_figures *takt_report_standing_look(void *data)
{
    takt_report *report = data;

    if (report->client)
        takt_get_stats(report->client, &report->figures.acts);
    report->figures.lines_lost = report->sink.lost;
    return &report->figures;
}

void takt_report_standing_tell(takt_report *report)
{
    const takt_report_trouble *trouble = takt_figures_first_trouble(&report->figures);
    char text[TAKT_REPORT_STATUS_SIZE], line[160];

    if (report->notify.fd < 0)
        return;
    takt_figures_line(&report->figures, line, sizeof(line));
    snprintf(text, sizeof(text), "STATUS=%s%s%.60s", line, trouble ? "; " : "",
             trouble ? trouble->text : "");
    for (char *at = text; *at; at++) /* a newline would begin another assignment */
        if ((unsigned char)*at < ' ')
            *at = ' ';
    if (strcmp(text, report->told) == 0)
        return;
    strcpy(report->told, text);
    takt_notify_tell(&report->notify, text);
}

void takt_report_set_client(takt_report *report, takt_client *client)
{
    takt_report_standing_look(report); /* last look at the client that is being replaced */
    report->client = client;
}

void takt_report_set_phase(takt_report *report, takt_report_phase phase)
{
    static const char *const events[] = {
        [TAKT_REPORT_STARTING] = "starting",
        [TAKT_REPORT_WORKING] = "working",
        [TAKT_REPORT_DRAINING] = "draining",
    };

    if (phase == report->figures.phase)
        return;
    report->figures.phase = phase;
    if (phase == TAKT_REPORT_WORKING)
        takt_notify_tell(&report->notify, "READY=1");
    else if (phase == TAKT_REPORT_DRAINING)
        takt_notify_tell(&report->notify, "STOPPING=1");
    takt_report_standing_tell(report);
    if (takt_report_say_begin(report, events[phase]))
        takt_report_say_end(report);
}

void takt_report_set_trouble(takt_report *report, const char *who, const char *text)
{
    if (!takt_figures_trouble(&report->figures, who, text))
        return;
    takt_report_standing_tell(report);
    takt_report_say_above(report, "%s: %s", who, text ? text : "works again");
    if (takt_report_say_begin(report, text ? "trouble" : "recovered")) {
        takt_report_log_word(&report->line, "who", who);
        takt_report_log_text(&report->line, "why", text);
        takt_report_say_end(report);
    }
}

void takt_report_set_notice(takt_report *report, const char *text)
{
    snprintf(report->figures.notice, sizeof(report->figures.notice), "%s", text);
}

void takt_report_set_total(takt_report *report, uint64_t jobs, bool exact)
{
    report->figures.total = jobs;
    report->figures.exact = exact;
}
