/*
 * claim_serve.h: a claim's turns: how much each of the worker's places gets of what it wants, and
 * what is counted for that.
 */
#ifndef TAKT_CORE_CLAIM_SERVE_H
#define TAKT_CORE_CLAIM_SERVE_H

#include "core/ledger.h"

/* One turn for each of the worker's places, the most urgent first.  Returns what was taken of the
 * room. *parked_us: as of takt_claim_park. */
takt_amounts takt_claim_serve(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                              takt_award *award, int64_t *parked_us);

#endif
