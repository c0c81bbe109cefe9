/*
 * later.c: see later.h.
 */
#include "later.h"

#include <stdlib.h>

static void put_at(takt_later *later, unsigned at, takt_job *job)
{
    later->heap[at] = job;
}

static void sift_up(takt_later *later, unsigned at, takt_job *job)
{
    for (; at > 0 && later->heap[(at - 1) / 2]->due_at_us > job->due_at_us; at = (at - 1) / 2)
        put_at(later, at, later->heap[(at - 1) / 2]);
    put_at(later, at, job);
}

static void sift_down(takt_later *later, unsigned at, takt_job *job)
{
    for (unsigned child; (child = 2 * at + 1) < later->count; at = child) {
        if (child + 1 < later->count &&
            later->heap[child + 1]->due_at_us < later->heap[child]->due_at_us)
            child++;
        if (later->heap[child]->due_at_us >= job->due_at_us)
            break;
        put_at(later, at, later->heap[child]);
    }
    put_at(later, at, job);
}

bool takt_later_put(takt_later *later, takt_job *job)
{
    if (later->count == later->capacity) {
        unsigned capacity = later->capacity ? later->capacity * 2 : 64;
        takt_job **heap = realloc(later->heap, capacity * sizeof(takt_job *));
        if (!heap)
            return false;
        later->heap = heap;
        later->capacity = capacity;
    }
    sift_up(later, later->count++, job);
    return true;
}

static void take_out(takt_later *later, unsigned at)
{
    takt_job *last = later->heap[--later->count];

    if (at == later->count)
        return;
    if (at > 0 && later->heap[(at - 1) / 2]->due_at_us > last->due_at_us)
        sift_up(later, at, last);
    else
        sift_down(later, at, last);
}

takt_job *takt_later_take(takt_later *later, int64_t now_us)
{
    takt_job *first = later->count ? later->heap[0] : NULL;

    if (!first || first->due_at_us > now_us)
        return NULL;
    take_out(later, 0);
    return first;
}

void takt_later_remove(takt_later *later, takt_job *job)
{
    for (unsigned i = 0; i < later->count; i++) {
        if (later->heap[i] == job) {
            take_out(later, i);
            return;
        }
    }
}

int64_t takt_later_due_us(const takt_later *later)
{
    return later->count > 0 ? later->heap[0]->due_at_us : INT64_MAX;
}
