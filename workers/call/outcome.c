/*
 * outcome.c: see outcome.h.
 */
#include "outcome.h"

takt_caller_outcome takt_caller_outcome_of(long status, bool expected, bool says_when)
{
    if (expected)
        return TAKT_CALLER_OUTCOME_DONE;
    if (status == 429)
        return TAKT_CALLER_OUTCOME_PENALIZE;
    if (status == 503 && says_when)
        return TAKT_CALLER_OUTCOME_BLOCK;
    if (status == 408 || status == 425 || (status >= 500 && status <= 599))
        return TAKT_CALLER_OUTCOME_RETRY;
    return TAKT_CALLER_OUTCOME_DEAD;
}
