/*
 * Workers that claim permits.
 */
#ifndef TAKT_TESTS_CORE_PERMITS_H
#define TAKT_TESTS_CORE_PERMITS_H

#include "core/books.h"

static inline takt_numbers permits(int64_t concurrency)
{
    return (takt_numbers){
        .lookahead_us = 250 * MS, .concurrency = concurrency, .lease_us = 30 * SECOND};
}

/* A worker that holds so many and wants so many more. */
static inline void state(book *b, int64_t at_us, uint64_t worker, int64_t holding, int64_t wanting)
{
    takt_claim claim = {.worker = worker,
                        .seq = ++b->seq,
                        .holding = holding,
                        .waiting = wanting,
                        .want_count = wanting > 0};

    claim.wants[0] = (takt_want){wanting, TAKT_NEVER, 1, 5, {{0}}};
    send_claim(b, at_us, &claim);
}

#endif
