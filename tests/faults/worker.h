/*
 * worker.h: a worker of the fault tests: it keeps waiters at all limits and notes their ends. It
 * ends with status 0 when it is told to stop and all waiters were served.
 */
#ifndef TAKT_TESTS_FAULTS_WORKER_H
#define TAKT_TESTS_FAULTS_WORKER_H

#include "faults/notes.h"

struct worker_options {
    const char *store;  /* its URL */
    int anywhere;       /* waiters that want any key of ANY_KEY */
    int64_t timeout_us; /* of the store; 0: as usual */
    /* The server's clock jumps back: it may have dropped the pages of a log, but not yet the
     * ledger, when it finds that neither has expired. */
    bool may_lose_pages;
};

/* Never returns. */
_Noreturn void worker_run(struct notes *notes, int index, const struct worker_options *options);

#endif
