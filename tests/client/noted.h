/*
 * A permit and a call of a test, with what their callbacks have said.
 */
#ifndef TAKT_TESTS_CLIENT_NOTED_H
#define TAKT_TESTS_CLIENT_NOTED_H

#include <stdbool.h>
#include <takt/takt.h>

typedef struct seen {
    takt_permit permit;
    takt_call call;
    int calls, status;
    bool stood;
    takt_standing standing;
} seen;

static inline void note(takt_permit *permit, int status)
{
    seen *job = permit->data;

    job->calls++;
    job->status = status;
}

static inline void note_call(takt_call *call, int status, const takt_standing *standing)
{
    seen *job = call->data;

    job->calls++;
    job->status = status;
    job->stood = standing != NULL;
    if (standing)
        job->standing = *standing;
}

#endif
