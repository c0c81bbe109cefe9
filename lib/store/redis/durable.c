/*
 * durable.c: see durable.h.
 */
#include "store/redis/durable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/redis.h"

struct takt_durable {
    uv_prepare_t prepare; /* sends the WAIT before the loop waits */
    takt_redis_command command;
    takt_redis_connection *connection;
    const takt_durable_events *events;
    char replicas[12], timeout[12]; /* as WAIT takes them */
    int least;
    bool under_way; /* the WAIT was sent and not answered yet */
    bool missing;   /* the last WAIT was answered with too few */
    takt_link sent; /* jobs that the WAIT behind them decides */
    takt_link held; /* jobs that wait for its answer before they are sent */
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
    takt_durable *durable = TAKT_HOLDER(command, takt_durable, command);
    bool enough =
        reply != NULL && reply->type == TAKT_REPLY_INTEGER && reply->integer >= durable->least;
    takt_link sent, held; /* not the jobs that these callbacks submit */
    takt_redis_job *job;

    takt_list_init(&sent);
    takt_list_init(&held);
    takt_list_move(&sent, &durable->sent);
    takt_list_move(&held, &durable->held);
    durable->under_way = false;
    if (reply != NULL)
        durable->missing = !enough;
    if (!enough) {
        fail_jobs(durable, &sent, reply, code);
        fail_jobs(durable, &held, reply, code);
    }
    while ((job = take_job(&sent)) != NULL)
        durable->events->conclude(job);
    while ((job = take_job(&held)) != NULL)
        durable->events->send(job);
}

/* ---- WAIT ------------------------------------------------------------------------------------ */

static void send_wait(takt_durable *durable)
{
    const char *arguments[] = {"WAIT", durable->replicas, durable->timeout};
    size_t sizes[] = {4, strlen(durable->replicas), strlen(durable->timeout)};

    uv_prepare_stop(&durable->prepare);
    durable->under_way =
        takt_redis_connection_send(durable->connection, &durable->command, 3, arguments, sizes);
    if (!durable->under_way) {
        on_answered(&durable->command, NULL, TAKT_E_STORE);
        return;
    }
    for (takt_link *at = durable->held.next; at != &durable->held; at = at->next)
        TAKT_HOLDER(at, takt_redis_job, pause.link)->sent = true;
    takt_redis_connection_flush(durable->connection); /* the loop is about to wait */
}

static void on_prepare(uv_prepare_t *prepare)
{
    send_wait(prepare->data);
}

/* libuv runs what was started last first: this one before the connection's own write. */
static void wait_at_end_of_turn(takt_durable *durable)
{
    uv_prepare_start(&durable->prepare, on_prepare);
}

bool takt_durable_holds_back(takt_durable *durable, takt_redis_job *job)
{
    if (!durable->under_way && !durable->missing)
        return false;
    takt_list_append(&durable->held, &job->pause.link);
    job->sent = durable->under_way;
    if (!durable->under_way)
        wait_at_end_of_turn(durable);
    return true;
}

void takt_durable_follow(takt_durable *durable, takt_redis_job *job)
{
    takt_list_append(&durable->sent, &job->pause.link);
    wait_at_end_of_turn(durable);
}

/* ---- opening and closing --------------------------------------------------------------------- */

takt_durable *takt_durable_open(uv_loop_t *loop, int replicas, int timeout_ms,
                                const takt_durable_events *events)
{
    takt_durable *durable = calloc(1, sizeof *durable);

    if (durable == NULL)
        return NULL;
    durable->command.answered = on_answered;
    durable->events = events;
    takt_list_init(&durable->sent);
    takt_list_init(&durable->held);
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
    durable->closed = closed;
    durable->data = data;
    on_answered(&durable->command, NULL, TAKT_E_CANCELED);
    uv_close((uv_handle_t *)&durable->prepare, on_closed);
}
