/*
 * Counts and rates of a worker, and when it is ready.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "jobs/report/figures.h"
#include "kit/notify.h"

static takt_figures all;

Test(figures, limits_are_found_again)
{
    takt_report_limit *a = takt_figures_get(&all, "a"), *b = takt_figures_get(&all, "b");

    cr_assert(a && b && a != b);
    cr_assert_eq(takt_figures_get(&all, "a"), a);
    a->done = 3;
    b->done = 4;
    b->running = 2;
    all.nowhere.dead = 1;
    takt_report_limit sum = takt_figures_sum(&all);
    cr_assert(sum.done == 7 && sum.running == 2 && sum.dead == 1);
    takt_figures_free(&all);
    cr_assert_null(all.limits);
}

Test(figures, jobs_move)
{
    takt_report_limit limit = {0};

    takt_figures_move(&limit, TAKT_REPORT_NOWHERE, TAKT_REPORT_WAITING);
    takt_figures_move(&limit, TAKT_REPORT_WAITING, TAKT_REPORT_PUT_AWAY);
    cr_assert(limit.waiting == 0 && limit.put_away == 1);
    takt_figures_move(&limit, TAKT_REPORT_PUT_AWAY, TAKT_REPORT_NOWHERE);
    takt_figures_move(&limit, TAKT_REPORT_NOWHERE, TAKT_REPORT_WAITING);
    takt_figures_move(&limit, TAKT_REPORT_WAITING, TAKT_REPORT_RUNNING);
    cr_assert(limit.waiting == 0 && limit.put_away == 0 && limit.running == 1);
    takt_figures_move(&limit, TAKT_REPORT_RUNNING, TAKT_REPORT_NOWHERE);
    takt_figures_move(&limit, TAKT_REPORT_RUNNING, TAKT_REPORT_NOWHERE);
    cr_assert_eq(limit.running, 0, "never below nothing");
}

Test(figures, ready_while_nothing_fails)
{
    cr_assert(!takt_figures_is_ready(&all), "it starts");
    all.phase = TAKT_REPORT_WORKING;
    cr_assert(takt_figures_is_ready(&all));
    cr_assert(takt_figures_trouble(&all, "store", "refused"));
    cr_assert(!takt_figures_trouble(&all, "store", "refused"), "known already");
    cr_assert(takt_figures_trouble(&all, "source", "gone"));
    cr_assert(!takt_figures_is_ready(&all));
    cr_assert_str_eq(takt_figures_first_trouble(&all)->text, "refused");
    cr_assert(takt_figures_trouble(&all, "store", "timed out"), "another one");
    cr_assert(takt_figures_trouble(&all, "store", NULL));
    cr_assert(!takt_figures_trouble(&all, "store", NULL));
    cr_assert_str_eq(takt_figures_first_trouble(&all)->who, "source");
    cr_assert(!takt_figures_is_ready(&all));
    takt_figures_trouble(&all, "source", NULL);
    cr_assert(takt_figures_is_ready(&all));
    all.phase = TAKT_REPORT_DRAINING;
    cr_assert(!takt_figures_is_ready(&all));
}

Test(figures, more_troubles_than_are_kept)
{
    static const char *const who[] = {"a", "b", "c", "d", "e"};

    for (int i = 0; i < 5; i++)
        cr_assert_eq(takt_figures_trouble(&all, who[i], "x"), i < TAKT_FIGURES_TROUBLES);
    cr_assert(takt_figures_trouble(&all, "d", NULL));
    cr_assert(takt_figures_trouble(&all, "e", "x"));
}

/* A bound belongs to the bucket below it, as `le` means. */
Test(figures, histograms)
{
    takt_figures_histogram waits = {0};

    takt_figures_histogram_add(&waits, 0);
    takt_figures_histogram_add(&waits, -7);
    takt_figures_histogram_add(&waits, takt_figures_bounds_us[0]);
    takt_figures_histogram_add(&waits, takt_figures_bounds_us[0] + 1);
    takt_figures_histogram_add(&waits, takt_figures_bounds_us[TAKT_FIGURES_BUCKETS - 1] + 1);
    cr_assert_eq(waits.counts[0], 3);
    cr_assert_eq(waits.counts[1], 1);
    cr_assert_eq(waits.counts[TAKT_FIGURES_BUCKETS], 1);
    cr_assert_eq(waits.count, 5);
    cr_assert_eq(waits.sum_us, 2 * takt_figures_bounds_us[0] + 2 +
                                   takt_figures_bounds_us[TAKT_FIGURES_BUCKETS - 1]);
    for (int i = 1; i < TAKT_FIGURES_BUCKETS; i++)
        cr_assert_gt(takt_figures_bounds_us[i], takt_figures_bounds_us[i - 1]);
}

Test(figures, in_one_line)
{
    char text[160];
    takt_report_limit *a = takt_figures_get(&all, "a");

    a->done = 1200;
    a->dead = 3;
    a->running = 20;
    a->waiting = 400;
    a->put_away = 100;
    takt_figures_line(&all, text, sizeof(text));
    cr_assert_str_eq(text, "1200 done, 3 failed, 20 running, 500 waiting");
    all.total = 50000;
    takt_figures_line(&all, text, sizeof(text));
    cr_assert_str_eq(text, "1200 of about 50000 done, 3 failed, 20 running, 500 waiting");
}

/* Whether a watchdog waits for this process, and how often it wants to hear. */
Test(figures, beats_of_a_watchdog)
{
    cr_assert_eq(takt_notify_beat_us("30000000", NULL, 7), 15000000);
    cr_assert_eq(takt_notify_beat_us("30000000", "7", 7), 15000000);
    cr_assert_eq(takt_notify_beat_us("30000000", "8", 7), 0);
    cr_assert_eq(takt_notify_beat_us("30000000", "", 7), 0);
    cr_assert_eq(takt_notify_beat_us(NULL, "7", 7), 0);
    cr_assert_eq(takt_notify_beat_us("", NULL, 7), 0);
    cr_assert_eq(takt_notify_beat_us("0", NULL, 7), 0);
    cr_assert_eq(takt_notify_beat_us("-5", NULL, 7), 0);
    cr_assert_eq(takt_notify_beat_us("30s", NULL, 7), 0);
    cr_assert_eq(takt_notify_beat_us("99999999999999999999999", NULL, 7), 0);
}
