/*
 * Workers that claim for several processes.
 */
#ifndef TAKT_TESTS_CORE_WEIGHTS_H
#define TAKT_TESTS_CORE_WEIGHTS_H

#include "core/books.h"

static inline void claim_for(book *b, int64_t at_us, int worker, int64_t weight, takt_want want,
                             int64_t holding)
{
    takt_claim claim = {.worker = (uint64_t)worker + 1,
                        .seq = ++b->seq,
                        .waiting = want.count,
                        .weight = weight,
                        .holding = holding,
                        .want_count = want.count > 0,
                        .wants = {want}};

    send_claim(b, at_us, &claim);
}

#endif
