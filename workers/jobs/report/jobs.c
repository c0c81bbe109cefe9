/*
 * jobs.c: counts and logs the events of jobs.
 */
#include "parts.h"

takt_report_limit *takt_report_get_limit(takt_report *report, const char *limit)
{
    return takt_figures_get(&report->figures, limit);
}

static takt_report_limit *counted(takt_report *report, takt_report_limit *limit)
{
    return limit ? limit : &report->figures.nowhere;
}

static bool begin_job(takt_report *report, const char *event, const takt_report_limit *limit,
                      const char *id)
{
    if (!takt_report_say_begin(report, event))
        return false;
    takt_report_log_text(&report->line, "id", id);
    takt_report_log_word(&report->line, "limit",
                         limit ? limit->name : NULL); /* a name of the policy */
    return true;
}

void takt_report_taken(takt_report *report, takt_report_limit *limit, bool again)
{
    limit = counted(report, limit);
    limit->taken += !again;
    takt_figures_move(limit, TAKT_REPORT_NOWHERE, TAKT_REPORT_WAITING);
}

void takt_report_put_away(takt_report *report, takt_report_limit *limit, bool away)
{
    takt_figures_move(counted(report, limit), away ? TAKT_REPORT_WAITING : TAKT_REPORT_PUT_AWAY,
                      away ? TAKT_REPORT_PUT_AWAY : TAKT_REPORT_NOWHERE);
}

void takt_report_started(takt_report *report, takt_report_limit *limit, const char *id,
                         int64_t waited_us, int64_t late_us)
{
    takt_report_limit *figures = counted(report, limit);

    figures->started++;
    takt_figures_move(figures, TAKT_REPORT_WAITING, TAKT_REPORT_RUNNING);
    takt_figures_histogram_add(&figures->waited, waited_us);
    takt_figures_histogram_add(&figures->late, late_us);
    if (begin_job(report, "started", limit, id)) {
        takt_report_log_seconds(&report->line, "waited_s", waited_us);
        takt_report_log_seconds(&report->line, "late_s", late_us);
        takt_report_say_end(report);
    }
}

void takt_report_done(takt_report *report, takt_report_limit *limit, const char *id,
                      unsigned attempt, int64_t took_us)
{
    takt_report_limit *figures = counted(report, limit);

    figures->done++;
    takt_figures_move(figures, TAKT_REPORT_RUNNING, TAKT_REPORT_NOWHERE);
    takt_figures_histogram_add(&figures->took, took_us);
    if (begin_job(report, "done", limit, id)) {
        takt_report_log_number(&report->line, "attempt", attempt);
        takt_report_log_seconds(&report->line, "took_s", took_us);
        takt_report_say_end(report);
    }
}

void takt_report_retried(takt_report *report, takt_report_limit *limit, const char *id,
                         unsigned attempt, int64_t after_us, const char *why)
{
    takt_report_limit *figures = counted(report, limit);

    figures->retried++;
    takt_figures_move(figures, TAKT_REPORT_RUNNING, TAKT_REPORT_WAITING);
    if (begin_job(report, "retry", limit, id)) {
        takt_report_log_number(&report->line, "attempt", attempt);
        takt_report_log_seconds(&report->line, "after_s", after_us);
        takt_report_log_text(&report->line, "why", why);
        takt_report_say_end(report);
    }
}

void takt_report_dead(takt_report *report, takt_report_limit *limit, takt_report_state from,
                      const char *id, const char *where, const char *why)
{
    takt_report_limit *figures = counted(report, limit);

    figures->dead++;
    takt_figures_move(figures, from, TAKT_REPORT_NOWHERE);
    takt_report_say_above(report, "%s%s%s%s: %s", id ? "job \"" : "", id ? id : "",
                          id ? "\", " : "", where, why);
    if (begin_job(report, "dead", limit, id)) {
        takt_report_log_text(&report->line, "where", where);
        takt_report_log_text(&report->line, "why", why);
        takt_report_say_end(report);
    }
}

void takt_report_given_back(takt_report *report, takt_report_limit *limit, takt_report_state from,
                            const char *id)
{
    takt_report_limit *figures = counted(report, limit);

    figures->given_back++;
    takt_figures_move(figures, from, TAKT_REPORT_NOWHERE);
    if (begin_job(report, "given_back", limit, id))
        takt_report_say_end(report);
}

void takt_report_lost(takt_report *report, takt_report_limit *limit, takt_report_state from,
                      const char *id)
{
    takt_report_limit *figures = counted(report, limit);

    figures->lost++;
    takt_figures_move(figures, from, TAKT_REPORT_NOWHERE);
    if (begin_job(report, "lost", limit, id))
        takt_report_say_end(report);
}
