/*
 * work.c: lists of jobs, linked through the jobs themselves.
 */
#include "work.h"

int job_urgency(const job *job)
{
    return job->priority == TAKT_PRIORITY_POLICY ? TAKT_PRIORITY_DEFAULT : job->priority;
}

/* NULL: at the beginning. */
static void insert_behind(job_list *list, job *job, struct job *before)
{
    job->previous = before;
    job->next = before ? before->next : list->first;
    *(before ? &before->next : &list->first) = job;
    *(job->next ? &job->next->previous : &list->last) = job;
    list->count++;
}

void job_list_append(job_list *list, job *job)
{
    insert_behind(list, job, list->last);
}

void job_list_insert(job_list *list, job *job, bool first)
{
    struct job *before = list->last;

    while (before && (job_urgency(before) > job_urgency(job) ||
                      (first && job_urgency(before) == job_urgency(job))))
        before = before->previous;
    insert_behind(list, job, before);
}

void job_list_remove(job_list *list, job *job)
{
    *(job->previous ? &job->previous->next : &list->first) = job->next;
    *(job->next ? &job->next->previous : &list->last) = job->previous;
    job->next = job->previous = NULL;
    list->count--;
}
