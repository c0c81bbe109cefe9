/*
 * intake.c: takes jobs from the source. Each text is checked once before the job waits, so that an
 * invalid job is reported at once. If the lane is full, only the reference of the job is kept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "kit/text.h"
#include "kit/wall_clock.h"
#include "misspelt.h"
#include "worker.h"

/* Tells how to write a limit that is named as LIMIT:KEY, as on a command line. */
static void explain_key(const takt_policy *policy, const char *named, takt_error *error)
{
    char limit[TAKT_NAME_SIZE_MAX + 1], key[TAKT_QUOTE_SIZE];
    const char *colon = strchr(named, ':');

    if (!colon)
        return;
    snprintf(limit, sizeof(limit), "%.*s", (int)(colon - named), named);
    if (takt_policy_has(policy, limit) && colon[1])
        snprintf(error->text, sizeof(error->text),
                 "limit: it names a key too; write \"limit\": \"%s\", \"key\": %s", limit,
                 takt_quote(colon + 1, key));
}

static int check(const takt_worker *worker, const takt_job_head *head, unsigned attempts,
                 takt_error *error)
{
    takt_request request = TAKT_REQUEST(head->limit);

    request.key = head->key;
    takt_job_request_take(worker, &request, head->cost, head->amounts);
    request.priority = head->priority;
    request.tenant = head->tenant;
    if (attempts >= worker->options.retry.attempts) {
        snprintf(error->text, sizeof(error->text),
                 "it was started %u time%s and never finished; perhaps it crashes its worker",
                 attempts, takt_plural(attempts));
        return TAKT_E_INVALID;
    }
    if (head->deadline_us && head->deadline_us <= takt_wall_clock_now()) {
        snprintf(error->text, sizeof(error->text), "its deadline has passed");
        return TAKT_E_DEADLINE;
    }
    int code = takt_check_request(takt_get_policy(worker->client), &request, error);
    if (code == TAKT_E_NO_LIMIT)
        explain_key(takt_get_policy(worker->client), head->limit, error);
    return code;
}

#define PARSED_MAX      1024 /* jobs whose fields are kept */
#define PARSED_SIZE_MAX 4096 /* bytes of such a job's text */

/* Keeps the parsed fields of a job that may start soon. For a job that waits long, the text alone
 * is smaller. */
static void keep_fields(takt_job *job, const takt_job_head *head, json_t *fields)
{
    takt_worker *worker = job->worker;

    if (job->lane->slow || worker->parsed >= PARSED_MAX || job->size > PARSED_SIZE_MAX)
        return;
    job->fields = json_incref(fields);
    job->head = *head;
    job->parsed = true;
    worker->parsed++;
}

/* The job is valid and waits, in memory or put away. */
static bool keep(takt_worker *worker, takt_lane *lane, const takt_job_head *head, json_t *fields,
                 takt_job_ref ref, const char *text, size_t size, unsigned attempts, bool fetched)
{
    int urgency =
        head->priority == TAKT_PRIORITY_POLICY ? TAKT_PRIORITY_DEFAULT : (int)head->priority;

    if (!fetched && !takt_lanes_has_room(&worker->lanes, lane, takt_lanes_size(size)) &&
        takt_job_source_put_away(worker->source, &ref, text, size)) {
        takt_report_put_away(worker->report, lane->figures, true);
        return takt_lanes_put_away(&worker->lanes, lane, urgency, ref);
    }
    takt_job *made = calloc(1, sizeof(*made) + size + 1);
    if (!made)
        return false;
    made->worker = worker;
    made->lane = lane;
    made->ref = ref;
    made->since_us = takt_worker_now(worker);
    made->deadline_us = head->deadline_us;
    made->cost = head->cost;
    if (!takt_unit_names_keep(&worker->unit_names, head->amounts, made->amounts)) {
        free(made);
        return false;
    }
    made->priority = (int8_t)head->priority;
    made->attempts = attempts;
    made->redelivered = attempts > 0;
    made->size = size;
    memcpy(made->text, text, size);
    keep_fields(made, head, fields);
    takt_lanes_join(lane);
    takt_lanes_hold(&worker->lanes, made);
    takt_lanes_line_up(&worker->lanes, made, false);
    return true;
}

/* The id of a text that cannot be a job, if it has one; the caller's to free. */
static char *id_of(const char *text, size_t size)
{
    json_t *fields = json_loadb(text, size, 0, NULL);
    const char *id = json_string_value(json_object_get(fields, "id"));
    char *copy = id ? strdup(id) : NULL;

    json_decref(fields);
    return copy;
}

static void refuse(takt_worker *worker, takt_job_ref ref, const char *text, size_t size,
                   const char *why)
{
    char *id = id_of(text, size);

    takt_job_end_bury(worker, NULL, TAKT_REPORT_NOWHERE, ref, text, size, id, why);
    free(id);
}

/* A job's lane: that of its tenant, if tenants take turns. NULL: no memory. */
static takt_lane *lane_of(takt_worker *worker, const takt_job_head *head)
{
    bool by_tenant = takt_policy_fair(takt_get_policy(worker->client), head->limit);

    return takt_lanes_get(&worker->lanes, head->limit, head->key, by_tenant ? head->tenant : NULL);
}

/* There is no memory: the job is left to another run. */
static void stop_without_memory(takt_worker *worker, takt_job_ref ref)
{
    takt_report_say(worker->report, "trouble", takt_strerror(TAKT_E_NOMEM));
    takt_drain_begin(worker, EX_OSERR);
    takt_job_source_give_back(worker->source, ref);
}

static void take_text(takt_worker *worker, takt_job_ref ref, const char *text, size_t size,
                      unsigned attempts, bool fetched)
{
    takt_error error = {0};
    json_t *fields;
    takt_job_head head;

    int failed =
        takt_job_kind_read(worker->kind, worker->options.limit, text, size, &fields, &head, &error);
    if (failed == TAKT_E_NOMEM) {
        stop_without_memory(worker, ref);
        return;
    }
    if (failed) {
        refuse(worker, ref, text, size, error.text);
        return;
    }
    if (!fetched)
        takt_misspelt_tell(&worker->misspelt, fields, head.id);
    failed = check(worker, &head, attempts, &error);
    takt_lane *lane = failed == TAKT_E_NO_LIMIT ? NULL : lane_of(worker, &head);
    if (lane) {
        takt_lanes_join(lane);
        if (!lane->figures)
            lane->figures = takt_report_get_limit(worker->report, lane->limit);
        takt_report_taken(worker->report, lane->figures, fetched);
    }
    if (failed)
        takt_job_end_bury(worker, lane ? lane->figures : NULL,
                          lane ? TAKT_REPORT_WAITING : TAKT_REPORT_NOWHERE, ref, text, size,
                          head.id, error.text[0] ? error.text : takt_strerror(failed));
    else if (!lane || !keep(worker, lane, &head, fields, ref, text, size, attempts, fetched))
        stop_without_memory(worker, ref);
    if (lane)
        takt_lanes_leave(&worker->lanes, lane);
    json_decref(fields);
}

static void on_took(void *data, takt_job_ref ref, const char *text, size_t size, unsigned attempts,
                    bool put_away, const char *why)
{
    takt_worker *worker = data;
    takt_report_limit *figures;

    worker->dirty = true;
    if (put_away && !takt_fetches_end(worker, ref, &figures))
        return; /* the job was given back meanwhile */
    if (worker->end.draining) {
        takt_job_source_give_back(worker->source, ref);
        if (put_away)
            takt_report_given_back(worker->report, figures, TAKT_REPORT_NOWHERE, NULL);
    } else if (text) {
        take_text(worker, ref, text, size, attempts, put_away);
    } else {
        takt_job_end_bury(worker, NULL, TAKT_REPORT_NOWHERE, ref, NULL, 0, NULL, why);
    }
}

static takt_job *find_in(const takt_job_list *list, takt_job_ref ref)
{
    for (takt_job *job = list->first; job; job = job->next)
        if (job->ref.major == ref.major && job->ref.minor == ref.minor)
            return job;
    return NULL;
}

/* Removes the job from its list. A running job is only marked as lost. */
static takt_job *pull_out(takt_worker *worker, takt_job_ref ref)
{
    takt_job_list *lists[] = {&worker->acquiring, &worker->seats.ready};
    takt_lane *lane = worker->lanes.busy;
    takt_job *job;

    for (int i = 0; i < 2; i++) {
        if ((job = find_in(lists[i], ref)) != NULL) {
            takt_job_list_remove(lists[i], job);
            if (i == 0)
                job->lane->acquiring--;
            return job;
        }
    }
    for (unsigned count = worker->lanes.busy_count; count > 0; count--, lane = lane->next) {
        if ((job = find_in(&lane->line, ref)) != NULL) {
            takt_lanes_step_out(&worker->lanes, job);
            return job;
        }
    }
    if ((job = find_in(&worker->later.jobs, ref)) != NULL) {
        takt_later_remove(&worker->later, job);
        return job;
    }
    if ((job = find_in(&worker->seats.starting, ref)) != NULL ||
        (job = find_in(&worker->seats.running, ref)) != NULL)
        job->lost = true;
    return NULL;
}

static void on_lost(void *data, takt_job_ref ref)
{
    takt_worker *worker = data;
    takt_report_limit *figures;
    takt_job *job;

    worker->dirty = true;
    if (takt_fetches_end(worker, ref, &figures)) {
        takt_report_lost(worker->report, figures, TAKT_REPORT_NOWHERE, NULL);
        return;
    }
    job = pull_out(worker, ref); /* a job that was put away is marked again when it is fetched */
    if (job) {
        job->lost = true;
        takt_job_end_give_back(job, TAKT_REPORT_WAITING);
    }
}

static void on_ended(void *data)
{
    takt_worker *worker = data;

    worker->ended = true;
    worker->dirty = true;
}

static void on_total(void *data, uint64_t jobs, bool exact)
{
    takt_worker *worker = data;

    takt_report_set_total(worker->report, jobs, exact);
}

static void on_failed(void *data, bool fatal, const char *text)
{
    takt_worker *worker = data;

    worker->dirty = true;
    takt_report_set_trouble(worker->report, "source", text);
    if (fatal)
        takt_drain_begin(worker, EX_IOERR);
}

static void on_recovered(void *data)
{
    takt_worker *worker = data;

    worker->dirty = true;
    takt_report_set_trouble(worker->report, "source", NULL);
}

static void on_noted(void *data)
{
    ((takt_worker *)data)->dirty = true;
}

static void on_closed(void *data)
{
    takt_worker *worker = data;

    worker->source_closed(worker);
}

const takt_job_source_events takt_intake_source_events = {
    .took = on_took,
    .lost = on_lost,
    .ended = on_ended,
    .total = on_total,
    .failed = on_failed,
    .recovered = on_recovered,
    .noted = on_noted,
    .closed = on_closed,
};

static void on_written(void *data, takt_job_ref ref)
{
    takt_worker *worker = data;

    worker->dirty = true;
    takt_job_source_done(worker->source, ref);
}

static void on_results_failed(void *data, const char *text)
{
    takt_report_set_trouble(((takt_worker *)data)->report, "results", text);
    takt_drain_begin(data, EX_IOERR);
}

const takt_results_events takt_intake_results_events = {.written = on_written,
                                                        .failed = on_results_failed};
