/*
 * durable.c: see durable.h.
 */
#include "store/redis/durable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/redis.h"

/* One WAIT and the jobs that it decides. */
typedef struct group {
    takt_redis_command command;
    takt_durable *durable;
    takt_link jobs;
    bool asks; /* its jobs were not sent: it only asks whether the replicas are there */
} group;

struct takt_durable {
    uv_prepare_t prepare; /* sends the WAIT before the loop waits */
    takt_redis_connection *connection;
    const takt_durable_events *events;
    char replicas[12], timeout[12]; /* as WAIT takes them */
    int least;
    bool missing; /* the last WAIT was answered with too few */
    group *open;  /* the jobs of this turn; its WAIT was not sent yet. NULL: none */
    bool closing;
    void (*closed)(void *data);
    void *data;
};

/* ---- answers --------------------------------------------------------------------------------- */

/* The jobs come in the order of their calls. */
static takt_redis_job *take_job(takt_link *jobs)
{
    takt_redis_job *job;

    if (takt_list_empty(jobs))
        return NULL;
    job = TAKT_HOLDER(jobs->next, takt_redis_job, pause.link);
    takt_list_remove(&job->pause.link);
    return job;
}

/* Fails the jobs: too few replicas, or an error. */
static void fail_jobs(const takt_durable *durable, takt_link *jobs, const takt_reply *reply,
                      int code)
{
    takt_redis_trouble trouble = {.code = code};
    takt_redis_job *job;
    char text[160];

    if (reply != NULL && reply->type == TAKT_REPLY_ERROR) {
        takt_redis_judge(&trouble, reply->text, reply->size);
    } else if (reply != NULL) {
        snprintf(text, sizeof text,
                 "%" PRId64 " of %s replicas have acknowledged within %s ms: the award is not used",
                 reply->type == TAKT_REPLY_INTEGER ? reply->integer : 0, durable->replicas,
                 durable->timeout);
        trouble.code = TAKT_E_STORE;
        trouble.text = text;
    }
    while ((job = take_job(jobs)) != NULL)
        durable->events->fail(job, trouble.code, trouble.text, trouble.word);
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    group *answered = (group *)command;
    takt_durable *durable = answered->durable;
    void (*go_on)(takt_redis_job * job) =
        answered->asks ? durable->events->send : durable->events->conclude;
    bool enough =
        reply != NULL && reply->type == TAKT_REPLY_INTEGER && reply->integer >= durable->least;
    takt_redis_job *job;
    takt_link jobs;

    takt_list_init(&jobs);
    takt_list_move(&jobs, &answered->jobs);
    free(answered);
    if (reply != NULL)
        durable->missing = !enough;
    if (!enough)
        fail_jobs(durable, &jobs, reply, code);
    while ((job = take_job(&jobs)) != NULL)
        go_on(job);
}

/* ---- WAIT ------------------------------------------------------------------------------------ */

static void send_wait(takt_durable *durable)
{
    group *sent = durable->open;
    const char *arguments[] = {"WAIT", durable->replicas, durable->timeout};
    size_t sizes[] = {4, strlen(durable->replicas), strlen(durable->timeout)};

    uv_prepare_stop(&durable->prepare);
    durable->open = NULL;
    if (sent == NULL)
        return;
    if (takt_redis_connection_send(durable->connection, &sent->command, 3, arguments, sizes))
        takt_redis_connection_flush(durable->connection); /* the loop is about to wait */
    else
        on_answered(&sent->command, NULL, durable->closing ? TAKT_E_CANCELED : TAKT_E_STORE);
}

static void on_prepare(uv_prepare_t *prepare)
{
    send_wait(prepare->data);
}

/* Adds a job to the group of this turn. */
static bool add(takt_durable *durable, takt_redis_job *job, bool asks)
{
    if (durable->open != NULL && durable->open->asks != asks)
        send_wait(durable);
    if (durable->open == NULL) {
        durable->open = calloc(1, sizeof *durable->open);
        if (durable->open == NULL)
            return false;
        durable->open->command.answered = on_answered;
        durable->open->durable = durable;
        durable->open->asks = asks;
        takt_list_init(&durable->open->jobs);
        /* libuv runs what was started last first: this one before the connection's own write */
        uv_prepare_start(&durable->prepare, on_prepare);
    }
    takt_list_append(&durable->open->jobs, &job->pause.link);
    return true;
}

bool takt_durable_holds_back(takt_durable *durable, takt_redis_job *job)
{
    return durable->missing && add(durable, job, true);
}

bool takt_durable_follow(takt_durable *durable, takt_redis_job *job)
{
    return add(durable, job, false);
}

/* ---- opening and closing --------------------------------------------------------------------- */

takt_durable *takt_durable_open(uv_loop_t *loop, int replicas, int timeout_ms,
                                const takt_durable_events *events)
{
    takt_durable *durable = calloc(1, sizeof *durable);

    if (durable == NULL)
        return NULL;
    durable->events = events;
    durable->least = replicas;
    snprintf(durable->replicas, sizeof durable->replicas, "%d", replicas);
    snprintf(durable->timeout, sizeof durable->timeout, "%d", timeout_ms);
    uv_prepare_init(loop, &durable->prepare);
    uv_unref((uv_handle_t *)&durable->prepare);
    durable->prepare.data = durable;
    return durable;
}

void takt_durable_use(takt_durable *durable, takt_redis_connection *connection)
{
    durable->connection = connection;
}

static void on_closed(uv_handle_t *handle)
{
    takt_durable *durable = handle->data;
    void (*closed)(void *data) = durable->closed;
    void *data = durable->data;

    free(durable);
    if (closed != NULL)
        closed(data);
}

void takt_durable_close(takt_durable *durable, void (*closed)(void *data), void *data)
{
    durable->closing = true;
    durable->closed = closed;
    durable->data = data;
    send_wait(durable); /* which fails, and answers its jobs */
    uv_close((uv_handle_t *)&durable->prepare, on_closed);
}
