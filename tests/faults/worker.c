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
#define HELD_MS     40 /* a permit, at most */
#define HELD_LONG   50 /* but one of so many is held for longer than a lease */
#define HELD_MS_MAX 3000

struct job {
    takt_permit permit;
    int limit, key;
    bool waiting;
    bool may_give_up;
    bool holds, lost;
    uv_timer_t work; /* with concurrency */
};

static struct {
    struct notes *notes;
    struct worker_notes *own;
    const struct worker_options *options;
    int index;
    takt_client *client;
    uv_check_t turn;
    struct job jobs[JOBS_MAX];
    int count;
    int waiting; /* or at work */
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

int64_t notes_monotonic_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

int64_t notes_wall_us(void)
{
    static int64_t ahead_us;
    int64_t at_us = notes_monotonic_us(), now_ahead_us = clock_us(CLOCK_REALTIME) - at_us;

    if (now_ahead_us > ahead_us)
        ahead_us = now_ahead_us;
    return at_us + ahead_us;
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
    int ledger = limits_ledger(job->limit, job->key);
    int64_t shift_us = atomic_load(&worker.notes->shift_us[ledger]);
    takt_stats stats;

    if (at == WORKER_NOTES) {
        fputs("a worker has no room for notes\n", stderr);
        _exit(4);
    }
    own->notes[at] = (struct note){job->permit.slot_at_us, fired_us, ledger, job->permit.cost};
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
    } else if ((status == TAKT_E_DEADLINE && job->may_give_up) ||
               (status == TAKT_E_LEASE && limits[job->limit].concurrency > 0)) {
        atomic_fetch_add(&worker.own->given_up, 1);
    } else {
        atomic_store(&worker.own->strange_status, status);
        atomic_fetch_add(&worker.own->strange, 1);
    }
}

/* ---- holding --------------------------------------------------------------------------------- */

static int ledger_of(const struct job *job)
{
    return limits_ledger(job->limit, job->key);
}

static void lose(struct job *job)
{
    permits_given_back(&worker.notes->permits, worker.index, ledger_of(job));
    job->lost = true;
}

static void on_turn(uv_check_t *turn)
{
    (void)turn;
    for (int i = 0; i < worker.count; i++)
        if (worker.jobs[i].holds)
            permits_renewed(&worker.notes->permits, worker.index, ledger_of(&worker.jobs[i]),
                            &worker.jobs[i].permit);
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
    } else if (event->type == TAKT_EVENT_PERMIT_LOST) {
        lose(event->permit->data);
    } else if (event->type != TAKT_EVENT_LEDGER_DAMAGED || !worker.options->may_lose_pages) {
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

/* All waiters were served: does the client agree? */
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
    uv_close((uv_handle_t *)&worker.turn, NULL);
    for (int i = 0; i < worker.count; i++)
        if (limits[worker.jobs[i].limit].concurrency > 0)
            uv_close((uv_handle_t *)&worker.jobs[i].work, NULL);
}

/* Its permit is given back, or there was none. */
static void go_on(struct job *job)
{
    worker.waiting--;
    takt_release(&job->permit);
    if (!atomic_load(&worker.notes->stopping))
        ask(job);
    else if (worker.waiting == 0)
        close_client();
}

static void on_done(uv_timer_t *timer)
{
    struct job *job = timer->data;

    job->holds = false;
    if (!job->lost)
        permits_given_back(&worker.notes->permits, worker.index, ledger_of(job));
    go_on(job);
}

static void hold(struct job *job)
{
    int64_t ms = 1 + takt_random_below(&worker.random, HELD_MS);

    if (takt_random_below(&worker.random, HELD_LONG) == 0)
        ms = HELD_MS_MAX;
    job->holds = true;
    job->lost = false;
    permits_taken(&worker.notes->permits, worker.index, ledger_of(job), &job->permit);
    uv_timer_start(&job->work, on_done, (uint64_t)ms, 0);
}

static void on_granted(takt_permit *permit, int status)
{
    struct job *job = permit->data;

    if (!job->waiting)
        atomic_fetch_add(&worker.own->twice, 1);
    job->waiting = false;
    worker.answered++;
    note_status(job, status);
    if (status == 0 && limits[job->limit].concurrency > 0)
        hold(job);
    else
        go_on(job);
}

static void add_job(uv_loop_t *loop, int limit, int key)
{
    struct job *job = &worker.jobs[worker.count];

    if (worker.count == JOBS_MAX)
        abort();
    job->permit.data = job;
    job->limit = limit;
    job->key = key;
    job->may_give_up = worker.count % 8 == 7;
    job->work.data = job;
    if (limits[limit].concurrency > 0)
        uv_timer_init(loop, &job->work);
    worker.count++;
}

static void add_jobs(uv_loop_t *loop, const struct worker_options *options)
{
    for (int limit = 0; limit < limit_count; limit++)
        for (int key = 0; key < limits[limit].keys; key++)
            for (int i = 0; i < limits[limit].waiters; i++)
                add_job(loop, limit, key);
    for (int i = 0; i < options->anywhere; i++)
        add_job(loop, ANY_KEY, 0);
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
    worker.options = options;
    worker.index = index;
    worker.own = &notes->workers[index];
    worker.random = (uint64_t)getpid();
    uv_loop_init(&loop);
    if (takt_open(&worker.client, &loop, policy, &opening, &error) < 0) {
        fprintf(stderr, "takt_open: %s\n", error.text);
        _exit(2);
    }
    permits_begin(&notes->permits, index);
    uv_check_init(&loop, &worker.turn);
    uv_check_start(&worker.turn, on_turn);
    add_jobs(&loop, options);
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
