/*
 * A key that has less than its tenant's part of the outermost limit.
 */
#ifndef TAKT_TESTS_CORE_SCARCE_H
#define TAKT_TESTS_CORE_SCARCE_H

#include "core/subs.h"

static inline const takt_place *place_in_line(const sub *of)
{
    return place_of(&b, takt_tenant_worker(of->worker, of->tenant), 5);
}

/* Key 0 of 50/s and other work, which stands in line already, of 200/s. */
static inline void set_up_scarce(int64_t rate)
{
    set_up(limit_of(rate, SECOND, 1), limit_of(rate / 4, SECOND, 1));
    add(2, -1, 1000000, 0);
    add(1, 0, 1000000, 0);
    add(3, 0, 1000000, 0);
    claim(&subs[0], 0);
}

#endif
