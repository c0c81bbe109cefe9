/*
 * kind.c: reads a text as a job of one kind.
 */
#include "job_parse.h"
#include "worker.h"

int takt_job_kind_read(const takt_job_kind *kind, const char *limit, const char *text, size_t size,
                       json_t **fields, takt_job_head *head, takt_error *error)
{
    int failed = takt_job_parse(text, size, limit, fields, head, error);

    if (failed || !kind->check)
        return failed;
    failed = kind->check(kind->self, *fields, head, error);
    if (failed)
        json_decref(*fields);
    return failed;
}
