/*
 * metrics.c: one function per metric family. Every limit has all samples, also those at 0, so that
 * the first failure shows as an increase.
 */
#include "metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/openmetrics.h"

#define SECOND_US 1000000

static const char *name_of(const takt_report_limit *limit)
{
    return limit->name ? limit->name : "";
}

/* The limits, after the figures of jobs without a limit. */
static const takt_report_limit *next_of(const takt_figures *figures, const takt_report_limit *limit)
{
    if (!limit)
        return &figures->nowhere;
    return limit == &figures->nowhere ? figures->limits : limit->next;
}

static void write_outcome(FILE *out, const takt_report_limit *limit, const char *outcome,
                          uint64_t count)
{
    fputs("takt_jobs_total{", out);
    takt_openmetrics_label(out, "limit", name_of(limit));
    putc(',', out);
    takt_openmetrics_label(out, "outcome", outcome);
    fprintf(out, "} %" PRIu64 "\n", count);
}

static void write_outcomes(FILE *out, const takt_figures *figures)
{
    const takt_report_limit *at = NULL;

    takt_openmetrics_head(out, "takt_jobs", "counter", NULL, "Jobs that ended here, by outcome.");
    while ((at = next_of(figures, at)) != NULL) {
        write_outcome(out, at, "done", at->done);
        write_outcome(out, at, "dead", at->dead);
        write_outcome(out, at, "given_back", at->given_back);
        write_outcome(out, at, "lost", at->lost);
    }
}

static uint64_t taken_of(const takt_report_limit *limit)
{
    return limit->taken;
}

static uint64_t retried_of(const takt_report_limit *limit)
{
    return limit->retried;
}

static uint64_t waiting_of(const takt_report_limit *limit)
{
    return limit->waiting;
}

static uint64_t put_away_of(const takt_report_limit *limit)
{
    return limit->put_away;
}

static uint64_t running_of(const takt_report_limit *limit)
{
    return limit->running;
}

static void write_counts(FILE *out, const takt_figures *figures, const char *name, bool is_counter,
                         const char *help, uint64_t (*count)(const takt_report_limit *limit))
{
    takt_openmetrics_head(out, name, is_counter ? "counter" : "gauge", NULL, help);
    for (const takt_report_limit *at = figures->limits; at; at = at->next) {
        fprintf(out, "%s%s{", name, is_counter ? "_total" : "");
        takt_openmetrics_label(out, "limit", name_of(at));
        fprintf(out, "} %" PRIu64 "\n", count(at));
    }
}

static const takt_figures_histogram *waited_of(const takt_report_limit *limit)
{
    return &limit->waited;
}

static const takt_figures_histogram *late_of(const takt_report_limit *limit)
{
    return &limit->late;
}

static const takt_figures_histogram *took_of(const takt_report_limit *limit)
{
    return &limit->took;
}

static void write_histogram(FILE *out, const char *name, const takt_report_limit *limit,
                            const takt_figures_histogram *of)
{
    uint64_t below = 0;

    for (int i = 0; i <= TAKT_FIGURES_BUCKETS; i++) {
        below += of->counts[i];
        fprintf(out, "%s_bucket{", name);
        takt_openmetrics_label(out, "limit", name_of(limit));
        if (i < TAKT_FIGURES_BUCKETS)
            fprintf(out, ",le=\"%g", (double)takt_figures_bounds_us[i] / SECOND_US);
        else
            fputs(",le=\"+Inf", out);
        /* OpenMetrics writes bounds as floats, also whole ones */
        fprintf(out, "%s\"} %" PRIu64 "\n",
                i < TAKT_FIGURES_BUCKETS && takt_figures_bounds_us[i] % SECOND_US == 0 ? ".0" : "",
                below);
    }
    fprintf(out, "%s_count{", name);
    takt_openmetrics_label(out, "limit", name_of(limit));
    fprintf(out, "} %" PRIu64 "\n%s_sum{", of->count, name);
    takt_openmetrics_label(out, "limit", name_of(limit));
    fputs("} ", out);
    takt_openmetrics_seconds(out, of->sum_us);
    putc('\n', out);
}

static void write_histograms(FILE *out, const takt_figures *figures, const char *name,
                             const char *help,
                             const takt_figures_histogram *(*of)(const takt_report_limit *limit))
{
    takt_openmetrics_head(out, name, "histogram", "seconds", help);
    for (const takt_report_limit *at = figures->limits; at; at = at->next)
        write_histogram(out, name, at, of(at));
}

static void write_limits(FILE *out, const takt_figures *figures)
{
    write_outcomes(out, figures);
    write_counts(out, figures, "takt_jobs_taken", true, "Jobs taken from the source.", taken_of);
    write_counts(out, figures, "takt_job_retries", true, "Failed attempts that are retried.",
                 retried_of);
    write_counts(out, figures, "takt_jobs_waiting", false,
                 "Jobs in memory that wait for their slot.", waiting_of);
    write_counts(out, figures, "takt_jobs_put_away", false,
                 "Waiting jobs of which only a reference is in memory.", put_away_of);
    write_counts(out, figures, "takt_jobs_running", false, "Running jobs.", running_of);
    write_histograms(out, figures, "takt_job_wait_seconds",
                     "Time from taking a job, or from the end of its retry pause, to its start.",
                     waited_of);
    write_histograms(out, figures, "takt_job_late_seconds",
                     "Time from a job's slot to its start: how far this worker lags behind.",
                     late_of);
    write_histograms(out, figures, "takt_job_duration_seconds",
                     "Time from a job's start to its success.", took_of);
}

static void write_worker(FILE *out, const takt_figures *figures)
{
    takt_openmetrics_head(out, "takt_worker", "info", NULL, "Program and version of the worker.");
    fputs("takt_worker_info{", out);
    takt_openmetrics_label(out, "program", figures->name);
    putc(',', out);
    takt_openmetrics_label(out, "version", takt_version());
    fputs("} 1\n", out);
    takt_openmetrics_head(out, "takt_worker_start_time_seconds", "gauge", "seconds",
                          "Start time of the worker, since the Unix epoch.");
    fputs("takt_worker_start_time_seconds ", out);
    takt_openmetrics_seconds(out, figures->started_at_us);
    putc('\n', out);
    takt_openmetrics_number(out, "takt_worker_ready", false, "1: the worker is ready; otherwise 0.",
                 takt_figures_is_ready(figures));
    takt_openmetrics_number(out, "takt_worker_log_lost", true,
                 "Log lines lost because their reader was too slow.", figures->lines_lost);
}

char *takt_metrics_text(const takt_figures *figures, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    if (!out)
        return NULL;
    write_worker(out, figures);
    write_limits(out, figures);
    takt_openmetrics_client(out, &figures->acts);
    fputs("# EOF\n", out);
    bool bad = ferror(out);
    if (fclose(out) != 0 || bad) {
        free(text);
        return NULL;
    }
    return text;
}
