/*
 * exit_status.c: see exit_status.h.
 */
#include "kit/exit_status.h"

#include <sysexits.h>

#include <takt/error.h>

int takt_exit_status(int code)
{
    if (code == TAKT_E_STORE_URL || code == TAKT_E_POLICY)
        return EX_CONFIG;
    if (code == TAKT_E_OVERTAKEN)
        return EX_TEMPFAIL;
    return code <= TAKT_E_STORE && code >= TAKT_E_STORE_FORMAT ? EX_UNAVAILABLE : EX_OSERR;
}
