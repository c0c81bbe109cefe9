/*
 * A call of the client in a test, and its result.
 */
#ifndef TAKT_TESTS_CLIENT_CALLS_H
#define TAKT_TESTS_CLIENT_CALLS_H

#include "client/client_test.h"

static struct {
    int calls;
    int status;
    bool answered;
    takt_standing standing;
} last;

static inline void note_call(takt_call *call, int status, const takt_standing *standing)
{
    (void)call;
    last.calls++;
    last.status = status;
    last.answered = standing != NULL;
    if (standing)
        last.standing = *standing;
}

static inline void run_call(int code)
{
    int before = last.calls;

    cr_assert_eq(code, 0);
    cr_assert_eq(last.calls, before, "never inside the call");
    while (last.calls == before)
        uv_run(&loop, UV_RUN_ONCE);
}

#endif
