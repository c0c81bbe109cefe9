/*
 * open.c: opens the parts of a worker; each part may report why it cannot start.
 */
#include <stdlib.h>
#include <sysexits.h>

#include "kit/exit_status.h"
#include "worker.h"

static void on_client_event(takt_client *client, const takt_event *event, void *data)
{
    takt_worker *worker = data;

    (void)client;
    worker->dirty = true;
    if (event->type == TAKT_EVENT_STORE_LOST)
        takt_report_set_trouble(worker->report, "store", event->text);
    else if (event->type == TAKT_EVENT_STORE_BACK)
        takt_report_set_trouble(worker->report, "store", NULL);
    else
        takt_report_say(worker->report, "takt", event->text);
}

static int open_client(takt_worker *worker)
{
    takt_error error = {0};
    takt_options options = {
        .store = worker->options.store, .on_event = on_client_event, .data = worker};
    int code = takt_open(&worker->client, &worker->loop, worker->policy, &options, &error);

    if (code) {
        takt_worker_say("%s", error.text[0] ? error.text : takt_strerror(code));
        return takt_exit_status(code);
    }
    takt_report_set_client(worker->report, worker->client);
    return 0;
}

/* The limit for jobs that name none must exist; otherwise all of them would be dead. */
static int check_limit(const takt_worker *worker)
{
    const char *limit = worker->options.limit;

    if (!limit || takt_policy_has(takt_get_policy(worker->client), limit))
        return 0;
    takt_worker_say("--limit %s: the policy has no limit of that name", limit);
    return EX_USAGE;
}

/* Without --redis the stream is on the store's server. */
static int open_stream(takt_worker *worker, takt_error *error)
{
    const takt_worker_options *options = &worker->options;
    const char *url = options->redis ? options->redis : options->store;

    if (!url)
        url = takt_policy_store(worker->policy);
    return takt_job_source_open_stream(&worker->source, &worker->loop, url, options->stream,
                                       options->group, options->take_over_us, options->until_empty,
                                       &takt_intake_source_events, worker, error);
}

static int open_source(takt_worker *worker)
{
    const takt_worker_options *options = &worker->options;
    takt_error error = {0};

    if (worker->rehearsal.option && options->stream) {
        takt_worker_say("%s needs a file of jobs, because a stream would lose them: write --input "
                        "FILE instead of --stream",
                        worker->rehearsal.option);
        return EX_USAGE;
    }
    int code = options->stream
                   ? open_stream(worker, &error)
                   : takt_job_source_open_file(&worker->source, &worker->loop, options->input,
                                               options->state, options->dead,
                                               worker->rehearsal.option != NULL,
                                               &takt_intake_source_events, worker, &error);

    if (code) {
        takt_worker_say("%s", error.text[0] ? error.text : takt_strerror(code));
        return code == TAKT_E_NOMEM          ? EX_OSERR
               : !options->stream            ? EX_NOINPUT
               : code == TAKT_E_SYSTEM       ? EX_OSERR
               : code == TAKT_E_STORE_ACCESS ? EX_UNAVAILABLE
                                             : EX_USAGE;
    }
    worker->end.source_is_open = true;
    return 0;
}

static int open_results(takt_worker *worker)
{
    takt_error error = {0};

    if (takt_results_open(&worker->results, &worker->loop, worker->options.results, worker->report,
                          &takt_intake_results_events, worker, &error) == 0)
        return 0;
    takt_worker_say("%s", error.text);
    return EX_CANTCREAT;
}

static int open_kind(takt_worker *worker)
{
    const takt_job_kind *kind = worker->kind;
    int status =
        kind->open ? kind->open(kind->self, &worker->loop, takt_get_policy(worker->client)) : 0;

    worker->end.kind_is_open = status == 0;
    return status;
}

static int open_report(takt_worker *worker)
{
    takt_error error = {0};

    if (takt_report_open(&worker->report, &worker->loop, &worker->options.report, &error) != 0) {
        takt_worker_say("%s", error.text);
        return EX_OSERR;
    }
    takt_worker_say_to(worker->report);
    return 0;
}

int takt_worker_open(takt_worker *worker)
{
    int status;

    if ((status = takt_worker_files_check(&worker->options)) != 0 ||
        (status = open_report(worker)) != 0 || (status = takt_worker_policy_open(worker)) != 0 ||
        (status = open_client(worker)) != 0 || (status = check_limit(worker)) != 0 ||
        (status = open_results(worker)) != 0 || (status = open_kind(worker)) != 0 ||
        (status = takt_rehearsal_open(worker)) != 0 || (status = open_source(worker)) != 0)
        return status;
    return 0;
}
