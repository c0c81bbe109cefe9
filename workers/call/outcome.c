/*
 * outcome.c: see outcome.h.
 */
#include "outcome.h"

outcome outcome_of(long status, bool expected, bool says_when)
{
    if (expected)
        return OUTCOME_DONE;
    if (status == 429)
        return OUTCOME_PENALIZE;
    if (status == 503 && says_when)
        return OUTCOME_BLOCK;
    if (status == 408 || status == 425 || (status >= 500 && status <= 599))
        return OUTCOME_RETRY;
    return OUTCOME_DEAD;
}
