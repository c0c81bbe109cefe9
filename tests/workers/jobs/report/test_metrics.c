/*
 * The figures as text: whole, and each family where it belongs.  What readers of OpenMetrics make
 * of it is tested from outside (tests/workers/test_report.py).
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/report/metrics.h"
#include "kit/openmetrics.h"

static takt_figures all = {
    .name = "takt-mail", .phase = TAKT_REPORT_WORKING, .started_at_us = 1500000};
static char *text;

static void expect(const char *line)
{
    char wanted[300];

    snprintf(wanted, sizeof(wanted), "\n%s\n", line);
    cr_expect_not_null(strstr(text, wanted), "%s", line);
}

Test(metrics, text)
{
    takt_report_limit *mail = takt_figures_get(&all, "sendgrid");
    size_t size;

    takt_figures_get(&all, "we\"ird\\na\nme")->waiting = 5;
    mail->taken = 10;
    mail->done = 4;
    mail->dead = 1;
    mail->retried = 2;
    mail->waiting = 3;
    mail->put_away = 7;
    mail->running = 2;
    takt_figures_histogram_add(&mail->waited, 500);
    takt_figures_histogram_add(&mail->waited, 700000);
    takt_figures_histogram_add(&mail->waited, INT64_C(200000000000));
    all.nowhere.dead = 6;
    all.acts = (takt_stats){
        .acquires = 9, .grants = 8, .store_calls = 5, .store_answers = 4, .store_us = 2500};
    text = takt_metrics_text(&all, &size);
    cr_assert_not_null(text);
    cr_assert_eq(size, strlen(text));
    cr_assert_eq(strcmp(text + size - 6, "# EOF\n"), 0);
    expect("takt_worker_info{program=\"takt-mail\",version=\"" TAKT_VERSION "\"} 1");
    expect("takt_worker_start_time_seconds 1.500000");
    expect("takt_worker_ready 1");
    expect("# TYPE takt_jobs counter");
    expect("takt_jobs_total{limit=\"\",outcome=\"dead\"} 6");
    expect("takt_jobs_total{limit=\"sendgrid\",outcome=\"done\"} 4");
    expect("takt_jobs_total{limit=\"sendgrid\",outcome=\"dead\"} 1");
    expect("takt_jobs_taken_total{limit=\"sendgrid\"} 10");
    expect("takt_job_retries_total{limit=\"sendgrid\"} 2");
    expect("takt_jobs_waiting{limit=\"sendgrid\"} 3");
    expect("takt_jobs_waiting{limit=\"we\\\"ird\\\\na\\nme\"} 5");
    expect("takt_jobs_put_away{limit=\"sendgrid\"} 7");
    expect("takt_jobs_running{limit=\"sendgrid\"} 2");
    expect("# UNIT takt_job_wait_seconds seconds");
    expect("takt_job_wait_seconds_bucket{limit=\"sendgrid\",le=\"0.001\"} 1");
    expect("takt_job_wait_seconds_bucket{limit=\"sendgrid\",le=\"0.5\"} 1");
    expect("takt_job_wait_seconds_bucket{limit=\"sendgrid\",le=\"1.0\"} 2");
    expect("takt_job_wait_seconds_bucket{limit=\"sendgrid\",le=\"86400.0\"} 2");
    expect("takt_job_wait_seconds_bucket{limit=\"sendgrid\",le=\"+Inf\"} 3");
    expect("takt_job_wait_seconds_count{limit=\"sendgrid\"} 3");
    expect("takt_job_wait_seconds_sum{limit=\"sendgrid\"} 200000.700500");
    expect("takt_store_calls_total 5");
    expect("takt_store_call_seconds_count 4");
    expect("takt_store_call_seconds_sum 0.002500");
    free(text);
    takt_figures_free(&all);
}

Test(metrics, a_file_is_replaced_at_once)
{
    char folder[] = "/tmp/takt-metrics-XXXXXX", path[64], read_text[32] = "";

    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/metrics", folder);
    cr_assert_eq(takt_openmetrics_write_file(path, "a longer one\n", 13), 0);
    FILE *before = fopen(path, "r");
    cr_assert_eq(takt_openmetrics_write_file(path, "new\n", 4), 0);
    cr_assert_eq(fread(read_text, 1, sizeof(read_text) - 1, before), 13);
    cr_assert_str_eq(read_text, "a longer one\n", "who reads the old one reads all of it");
    fclose(before);
    before = fopen(path, "r");
    cr_assert_eq(fread(read_text, 1, sizeof(read_text) - 1, before), 4);
    fclose(before);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(rmdir(folder), 0, "nothing else is left there");
    cr_assert_eq(takt_openmetrics_write_file(path, "new\n", 4), ENOENT);
}
