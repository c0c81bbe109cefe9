/*
 * worker.c: see worker.h.
 */
#include "faults/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/random.h"
#include "faults/limits.h"

#define NOTES_SPARE 10000 /* for the jobs under way */
#define JOBS_MAX    1024

struct job {
    takt_permit permit;
    int limit, key;
    bool waiting;
    bool may_give_up;
};

static struct {
    struct notes *notes;
    struct worker_notes *own;
    takt_client *client;
    struct job jobs[JOBS_MAX];
    int count;
    int waiting;
    int64_t asked, answered;
    uint64_t random;
} worker;

/* ---- shared memory --------------------------------------------------------------------------- */

static int64_t clock_us(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000) + time.tv_nsec / 1000;
}

int64_t notes_wall_us(void)
{
    return clock_us(CLOCK_REALTIME);
}

int64_t notes_monotonic_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

struct notes *notes_open(void)
{
    struct notes *notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (notes == MAP_FAILED || sem_init(&notes->changed, 1, 0) < 0)
        abort();
    for (int i = 0; i < WORKERS_MAX; i++)
        notes->workers[i].wanted = INT64_MAX;
    return notes;
}

/* ---- noting ---------------------------------------------------------------------------------- */

static void note_slot(const struct job *job)
{
    struct worker_notes *own = worker.own;
    int64_t at = atomic_load(&own->noted), fired_us = notes_wall_us();
    int64_t shift_us = atomic_load(&worker.notes->shift_us);
    takt_stats stats;

    if (at == WORKER_NOTES) {
        fputs("a worker has no room for notes\n", stderr);
        _exit(4);
    }
    own->notes[at] = (struct note){job->permit.slot_at_us, fired_us,
                                   limits_ledger(job->limit, job->key), job->permit.cost};
    atomic_store(&own->noted, at + 1);
    if (shift_us != CLOCK_UNSTEADY && fired_us + shift_us < job->permit.slot_at_us)
        atomic_fetch_add(&own->early, 1);
    takt_get_stats(worker.client, &stats);
    atomic_store(&own->calls, stats.store_calls);
    if (atomic_fetch_add(&own->grants, 1) + 1 == atomic_load(&own->wanted))
        sem_post(&worker.notes->changed);
}

static void note_status(const struct job *job, int status)
{
    if (status == 0) {
        note_slot(job);
    } else if (status == TAKT_E_DEADLINE && job->may_give_up) {
        atomic_fetch_add(&worker.own->given_up, 1);
    } else {
        atomic_store(&worker.own->strange_status, status);
        atomic_fetch_add(&worker.own->strange, 1);
    }
}

static void on_event(takt_client *client, const takt_event *event, void *data)
{
    struct worker_notes *own = worker.own;

    (void)client;
    (void)data;
    if (event->type == TAKT_EVENT_STORE_LOST) {
        atomic_store(&own->code, event->code);
        atomic_store(&own->lost_at_us, notes_monotonic_us());
        atomic_fetch_add(&own->lost, 1);
    } else if (event->type == TAKT_EVENT_STORE_BACK) {
        atomic_store(&own->back_at_us, notes_monotonic_us());
        atomic_fetch_add(&own->back, 1);
    } else {
        fprintf(stderr, "%s\n", event->text);
        _exit(5);
    }
    sem_post(&worker.notes->changed);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void on_granted(takt_permit *permit, int status);

static void ask(struct job *job)
{
    takt_request request = TAKT_REQUEST(limits[job->limit].name);
    char key[16] = "";
    int code;

    if (atomic_load(&worker.own->noted) > WORKER_NOTES - NOTES_SPARE)
        return; /* it has done more than its share while another was waited for */
    if (job->limit == ANY_KEY)
        job->key = (int)takt_random_below(&worker.random, limits[ANY_KEY].keys);
    if (limits[job->limit].keys > 1)
        snprintf(key, sizeof key, "%d", job->key);
    request.key = key[0] != '\0' ? key : NULL;
    request.priority = (int32_t)takt_random_below(&worker.random, 3) + 4;
    request.max_wait_us = job->may_give_up ? GIVE_UP_US : 0;
    job->waiting = true;
    worker.waiting++;
    worker.asked++;
    code = takt_acquire(worker.client, &job->permit, &request, on_granted);
    if (code == 0)
        return;
    fprintf(stderr, "takt_acquire: %s\n", takt_strerror(code));
    _exit(6);
}

static void on_closed(void *data)
{
    (void)data;
}

/* Everybody was served: is that what the client says, too? */
static void close_client(void)
{
    takt_stats stats;

    takt_get_stats(worker.client, &stats);
    atomic_store(&worker.own->calls, stats.store_calls);
    if (stats.waiting != 0 || stats.acquires != worker.asked || worker.asked != worker.answered) {
        fprintf(stderr, "%lld acquires, %lld asked for, %lld answered\n", (long long)stats.acquires,
                (long long)worker.asked, (long long)worker.answered);
        _exit(7);
    }
    takt_close(worker.client, on_closed, NULL);
}

static void on_granted(takt_permit *permit, int status)
{
    struct job *job = permit->data;

    if (!job->waiting)
        atomic_fetch_add(&worker.own->twice, 1);
    job->waiting = false;
    worker.waiting--;
    worker.answered++;
    note_status(job, status);
    takt_release(permit);
    if (!atomic_load(&worker.notes->stopping))
        ask(job);
    else if (worker.waiting == 0)
        close_client();
}

static void add_job(int limit, int key)
{
    struct job *job = &worker.jobs[worker.count];

    if (worker.count == JOBS_MAX)
        abort();
    job->permit.data = job;
    job->limit = limit;
    job->key = key;
    job->may_give_up = worker.count % 8 == 7;
    worker.count++;
}

static void add_jobs(const struct worker_options *options)
{
    for (int limit = 0; limit < limit_count; limit++)
        for (int key = 0; key < limits[limit].keys; key++)
            for (int i = 0; i < limits[limit].waiters; i++)
                add_job(limit, key);
    for (int i = 0; i < options->anywhere; i++)
        add_job(ANY_KEY, 0);
}

_Noreturn void worker_run(struct notes *notes, int index, const struct worker_options *options)
{
    takt_options opening = {.store = options->store,
                            .name_space = "faults",
                            .store_timeout_us = options->timeout_us,
                            .on_event = on_event};
    takt_policy *policy = limits_policy();
    takt_error error;
    uv_loop_t loop;

    worker.notes = notes;
    worker.own = &notes->workers[index];
    worker.random = (uint64_t)getpid();
    uv_loop_init(&loop);
    if (takt_open(&worker.client, &loop, policy, &opening, &error) < 0) {
        fprintf(stderr, "takt_open: %s\n", error.text);
        _exit(2);
    }
    add_jobs(options);
    for (int i = 0; i < worker.count; i++)
        ask(&worker.jobs[i]);
    uv_run(&loop, UV_RUN_DEFAULT);
    if (worker.waiting != 0 || uv_loop_close(&loop) != 0) {
        fprintf(stderr, "the loop ended with %d waiters\n", worker.waiting);
        _exit(3);
    }
    takt_policy_free(policy);
    _exit(0);
}
