/* takt-print: prints the "text" of its jobs, each when its slot is due; the smallest worker there
 * is.  A job may say how long it takes: {"id": "1", "limit": "slow", "text": "hello", "ms": 20} */
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <jansson.h>
#include <takt/worker.h>
#include <uv.h>

struct print {
    uv_timer_t timer;
    takt_job *job;
    LIST_ENTRY(print) link;
};
static LIST_HEAD(, print) running;
static uv_loop_t *loop;

static int begin(void *self, uv_loop_t *of_worker, const takt_policy *policy)
{
    (void)self, (void)policy;
    loop = of_worker;
    return 0;
}

/* Checks a job when it is read, so that mistakes are reported early. */
static int check(void *self, json_t *fields, takt_job_head *head, takt_error *error)
{
    (void)self, (void)head;
    if (json_is_string(json_object_get(fields, "text")))
        return 0;
    snprintf(error->text, sizeof(error->text), "text: a job needs one; write \"text\": \"...\"");
    return error->code = TAKT_E_INVALID;
}

static void free_print(uv_handle_t *timer)
{
    free(timer->data);
}

static void finish(uv_timer_t *timer)
{
    struct print *print = timer->data;
    json_t *text = json_object_get(takt_job_fields(print->job), "text");

    json_t *result = json_pack("{s:O}", "text", text);
    if (result)
        takt_job_done(print->job, result);
    else
        takt_job_retry(print->job, 0, "no memory");
    LIST_REMOVE(print, link);
    uv_close((uv_handle_t *)timer, free_print);
}

/* The slot is due. This function must not block; the job is ended now or later. */
static void start(void *self, takt_job *job)
{
    json_int_t ms = json_integer_value(json_object_get(takt_job_fields(job), "ms"));
    struct print *print = calloc(1, sizeof(*print));

    (void)self;
    if (!print) {
        takt_job_retry(job, 0, "no memory");
        return;
    }
    uv_timer_init(loop, &print->timer);
    print->timer.data = print;
    print->job = job;
    LIST_INSERT_HEAD(&running, print, link);
    uv_timer_start(&print->timer, finish, ms > 0 ? (uint64_t)ms : 0, 0);
}

/* Do not end jobs that still run. */
static void stop(void *self)
{
    (void)self;
    for (struct print *print = LIST_FIRST(&running); print; print = LIST_NEXT(print, link))
        uv_close((uv_handle_t *)&print->timer, free_print);
}

int main(int argc, char **argv)
{
    static const takt_job_kind print = {.name = "takt-print",
                                        .summary = "Prints the text of each job when it is due.",
                                        .open = begin,
                                        .check = check,
                                        .start = start,
                                        .close = stop};

    return takt_worker_main(argc, argv, &print);
}
