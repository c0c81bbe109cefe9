/*
 * later.c: see later.h.
 */
#include "later.h"

#include <stddef.h>

static takt_job *job_of(const takt_node *node)
{
    return (takt_job *)((char *)node - offsetof(takt_job, due_node));
}

static bool is_due_before(const takt_node *a, const takt_node *b)
{
    return job_of(a)->due_at_us < job_of(b)->due_at_us;
}

void takt_later_init(takt_later *later)
{
    later->jobs = (takt_job_list){.count = 0};
    takt_heap_init(&later->due, is_due_before);
}

void takt_later_put(takt_later *later, takt_job *job)
{
    takt_job_list_append(&later->jobs, job);
    takt_heap_add(&later->due, &job->due_node);
}

void takt_later_remove(takt_later *later, takt_job *job)
{
    takt_heap_remove(&later->due, &job->due_node);
    takt_job_list_remove(&later->jobs, job);
}

takt_job *takt_later_take(takt_later *later, int64_t now_us)
{
    takt_job *first = later->due.first ? job_of(later->due.first) : NULL;

    if (!first || first->due_at_us > now_us)
        return NULL;
    takt_later_remove(later, first);
    return first;
}

int64_t takt_later_due_us(const takt_later *later)
{
    return later->due.first ? job_of(later->due.first)->due_at_us : INT64_MAX;
}
