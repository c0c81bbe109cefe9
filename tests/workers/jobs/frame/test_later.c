/*
 * Jobs that wait to be tried again come back in the order in which they are due.
 */
#include <stdint.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "jobs/frame/later.h"

#define JOBS 50

static takt_job *make(int64_t due_at_us)
{
    takt_job *job = calloc(1, sizeof(*job));

    job->due_at_us = due_at_us;
    return job;
}

Test(later, the_first_that_is_due_comes_first)
{
    takt_later later;

    takt_later_init(&later);
    cr_expect_eq(takt_later_due_us(&later), INT64_MAX);
    cr_expect_null(takt_later_take(&later, INT64_MAX));
    for (int64_t i = 0; i < JOBS; i++)
        takt_later_put(&later, make(i * 7 % JOBS)); /* 7 and JOBS share no factor */
    for (int64_t due_at_us = 0; due_at_us < JOBS; due_at_us++) {
        cr_assert_eq(takt_later_due_us(&later), due_at_us);
        cr_assert_null(takt_later_take(&later, due_at_us - 1));
        takt_job *job = takt_later_take(&later, due_at_us);
        cr_assert(job && job->due_at_us == due_at_us);
        cr_assert_eq(later.jobs.count, JOBS - 1 - due_at_us);
        free(job);
    }
    cr_expect_eq(takt_later_due_us(&later), INT64_MAX);
}

Test(later, any_job_can_be_removed)
{
    takt_job *jobs[JOBS];
    takt_later later;

    takt_later_init(&later);
    for (int i = 0; i < JOBS; i++)
        takt_later_put(&later, jobs[i] = make(i));
    for (int i = 0; i < JOBS; i += 2) {
        takt_later_remove(&later, jobs[i]);
        free(jobs[i]);
    }
    for (int i = 1; i < JOBS; i += 2) {
        cr_assert_eq(takt_later_take(&later, INT64_MAX), jobs[i]);
        free(jobs[i]);
    }
    cr_expect(later.jobs.count == 0 && !later.jobs.first);
}
