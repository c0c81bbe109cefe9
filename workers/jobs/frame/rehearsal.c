/*
 * rehearsal.c: a dry run. Jobs take no permits and do not wait; a plan of the policy says when they
 * would start if nothing had used their limits before and nothing else used them meanwhile.
 */
#include <stdio.h>
#include <sysexits.h>

#include "jobs/text/instant.h"
#include "kit/text.h"
#include "kit/wall_clock.h"
#include "worker.h"

int takt_rehearsal_open(takt_worker *worker)
{
    takt_rehearsal *rehearsal = &worker->rehearsal;

    rehearsal->option =
        worker->kind->rehearses ? worker->kind->rehearses(worker->kind->self) : NULL;
    if (!rehearsal->option)
        return 0;
    rehearsal->limits = json_object();
    if (rehearsal->limits && takt_plan_new(&rehearsal->plan, takt_get_policy(worker->client),
                                           takt_wall_clock_now()) == 0)
        return 0;
    takt_worker_say("%s", takt_strerror(TAKT_E_NOMEM));
    return EX_OSERR;
}

/* Adds a job to the figures of its limit: how many there are, and the first and the last start. */
static bool count(takt_rehearsal *rehearsal, const char *limit, json_int_t at_us)
{
    json_t *figures = json_object_get(rehearsal->limits, limit);

    if (!figures)
        return json_object_set_new_nocheck(rehearsal->limits, limit,
                                           json_pack("[I,I,I]", (json_int_t)1, at_us, at_us)) == 0;
    json_t *jobs = json_array_get(figures, 0), *first = json_array_get(figures, 1),
           *last = json_array_get(figures, 2);
    json_integer_set(jobs, json_integer_value(jobs) + 1);
    if (at_us < json_integer_value(first))
        json_integer_set(first, at_us);
    if (at_us > json_integer_value(last))
        json_integer_set(last, at_us);
    return true;
}

int takt_rehearsal_plan(takt_job *job, const takt_request *request)
{
    takt_rehearsal *rehearsal = &job->worker->rehearsal;
    int64_t at_us;
    int code;

    if (job->permit.slot_at_us)
        return 0; /* planned before: the job waited for a seat, or is tried again */
    code = takt_plan_add(rehearsal->plan, request, &at_us, NULL);
    if (code != 0)
        return code;
    if (job->deadline_us && at_us > job->deadline_us)
        return TAKT_E_DEADLINE;
    job->permit.slot_at_us = at_us;
    return count(rehearsal, job->lane->limit, at_us) ? 0 : TAKT_E_NOMEM;
}

void takt_rehearsal_note(const takt_job *job, json_t *result)
{
    char at[TAKT_INSTANT_SIZE];

    if (job->worker->rehearsal.plan && result)
        json_object_set_new_nocheck(result, "would_start",
                                    json_string(takt_instant_write(job->permit.slot_at_us, at)));
}

/* The plan cannot let a job pass one before it. */
static void say_bound(takt_worker *worker, const char *limit)
{
    const char *outer = takt_policy_within(takt_get_policy(worker->client), limit);
    char text[512];

    if (!outer)
        return;
    snprintf(
        text, sizeof(text),
        "%s: these times are upper bounds, because it is within %s: the plan keeps the order "
        "of the file there, but workers let jobs of other keys pass one that waits for its key",
        limit, outer);
    takt_report_say(worker->report, "plan", text);
}

void takt_rehearsal_close(takt_worker *worker)
{
    char text[512], first[TAKT_INSTANT_SIZE], last[TAKT_INSTANT_SIZE];
    const char *limit;
    json_t *figures;

    json_object_foreach(worker->rehearsal.limits, limit, figures)
    {
        json_int_t jobs = json_integer_value(json_array_get(figures, 0));
        snprintf(text, sizeof(text), "%s: %lld job%s would start, the first at %s, the last at %s",
                 limit, (long long)jobs, takt_plural((uint64_t)jobs),
                 takt_instant_write(json_integer_value(json_array_get(figures, 1)), first),
                 takt_instant_write(json_integer_value(json_array_get(figures, 2)), last));
        takt_report_say(worker->report, "plan", text);
        say_bound(worker, limit);
    }
    json_decref(worker->rehearsal.limits);
    takt_plan_free(worker->rehearsal.plan);
    worker->rehearsal = (takt_rehearsal){0};
}
