/*
 * job_list.c: lists of jobs, linked through the jobs themselves.
 */
#include "job_list.h"

int takt_job_urgency(const takt_job *job)
{
    return job->priority == TAKT_PRIORITY_POLICY ? TAKT_PRIORITY_DEFAULT : job->priority;
}

/* NULL: at the front. */
static void insert_behind(takt_job_list *list, takt_job *job, takt_job *before)
{
    job->previous = before;
    job->next = before ? before->next : list->first;
    *(before ? &before->next : &list->first) = job;
    *(job->next ? &job->next->previous : &list->last) = job;
    list->count++;
}

void takt_job_list_append(takt_job_list *list, takt_job *job)
{
    insert_behind(list, job, list->last);
}

void takt_job_list_insert(takt_job_list *list, takt_job *job, bool first)
{
    takt_job *before = list->last;

    while (before && (takt_job_urgency(before) > takt_job_urgency(job) ||
                      (first && takt_job_urgency(before) == takt_job_urgency(job))))
        before = before->previous;
    insert_behind(list, job, before);
}

void takt_job_list_remove(takt_job_list *list, takt_job *job)
{
    *(job->previous ? &job->previous->next : &list->first) = job->next;
    *(job->next ? &job->next->previous : &list->last) = job->previous;
    job->next = job->previous = NULL;
    list->count--;
}
