/*
 * later.c: a heap of jobs by when they are due, and the one timer for all of them, for slots that
 * are kept for too long, and for asking that has become waiting.
 */
#include <stdlib.h>

#include "run.h"

static void put_at(takt_worker *worker, unsigned at, takt_job *job)
{
    worker->later[at] = job;
}

static void sift_up(takt_worker *worker, unsigned at, takt_job *job)
{
    for (; at > 0 && worker->later[(at - 1) / 2]->due_at_us > job->due_at_us; at = (at - 1) / 2)
        put_at(worker, at, worker->later[(at - 1) / 2]);
    put_at(worker, at, job);
}

static void sift_down(takt_worker *worker, unsigned at, takt_job *job)
{
    for (unsigned child; (child = 2 * at + 1) < worker->later_count; at = child) {
        if (child + 1 < worker->later_count &&
            worker->later[child + 1]->due_at_us < worker->later[child]->due_at_us)
            child++;
        if (worker->later[child]->due_at_us >= job->due_at_us)
            break;
        put_at(worker, at, worker->later[child]);
    }
    put_at(worker, at, job);
}

bool later_put(takt_worker *worker, takt_job *job)
{
    if (worker->later_count == worker->later_capacity) {
        unsigned capacity = worker->later_capacity ? worker->later_capacity * 2 : 64;
        takt_job **later = realloc(worker->later, capacity * sizeof(takt_job *));
        if (!later)
            return false;
        worker->later = later;
        worker->later_capacity = capacity;
    }
    sift_up(worker, worker->later_count++, job);
    return true;
}

static void take_out(takt_worker *worker, unsigned at)
{
    takt_job *last = worker->later[--worker->later_count];

    if (at == worker->later_count)
        return;
    if (at > 0 && worker->later[(at - 1) / 2]->due_at_us > last->due_at_us)
        sift_up(worker, at, last);
    else
        sift_down(worker, at, last);
}

takt_job *later_take(takt_worker *worker, int64_t now_us)
{
    takt_job *first = worker->later_count ? worker->later[0] : NULL;

    if (!first || first->due_at_us > now_us)
        return NULL;
    take_out(worker, 0);
    return first;
}

void later_remove(takt_worker *worker, takt_job *job)
{
    for (unsigned i = 0; i < worker->later_count; i++) {
        if (worker->later[i] == job) {
            take_out(worker, i);
            return;
        }
    }
}

static void on_due(uv_timer_t *timer)
{
    takt_worker *worker = timer->data;

    worker->dirty = true; /* the pass looks who is due */
}

void later_arm(takt_worker *worker)
{
    int64_t due_at_us = worker->later_count ? worker->later[0]->due_at_us : INT64_MAX;

    if (worker->ready.first && worker->ready.first->granted_at_us + RUN_STALE_US < due_at_us)
        due_at_us = worker->ready.first->granted_at_us + RUN_STALE_US;
    if (run_asked_until(worker) < due_at_us)
        due_at_us = run_asked_until(worker);
    if (due_at_us == INT64_MAX) {
        uv_timer_stop(&worker->later_timer);
        return;
    }
    int64_t wait_us = due_at_us - takt_worker_now(worker);
    uint64_t wait_ms = wait_us > 0 ? (uint64_t)(wait_us + 999) / 1000 : 0;
    uv_timer_start(&worker->later_timer, on_due, wait_ms, 0);
}
