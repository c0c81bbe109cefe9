/*
 * settle.h: corrects the cost of a job to the one that the vendor's answer states. The job names
 * its place, else the limit (`settle` in the policy), else the command line.
 */
#ifndef TAKT_WORKERS_CALL_SETTLE_H
#define TAKT_WORKERS_CALL_SETTLE_H

#include <stdbool.h>

#include "call.h"

/* The troubles already reported. Each is reported once, since the next answers most likely have it,
 * too. */
typedef struct takt_caller_unsettled {
    bool said_missing, said_wrong;
} takt_caller_unsettled;

/* Settles what the answer states; the estimate of the rest stays. An answer with an unexpected
 * status need not state anything. */
void takt_caller_settle(takt_caller_unsettled *unsettled, const takt_caller_call *call,
                        const takt_caller_options *options, long status);

#endif
