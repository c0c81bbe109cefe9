/*
 * leaky_bucket.c: a queue that drains steadily: one token each emission interval and never two at
 * once, which is GCRA with a burst of 1, and at most `queue` waiting in the whole fleet.  How many
 * wait is bounded by the limit that the rule is part of; the arithmetic is gcra.c's.
 */
#include "core/gcra.h"

const takt_algorithm takt_leaky_bucket = {
    .name = "leaky-bucket",
    .takes = TAKT_TAKES_QUEUE,
    .prepare = takt_gcra_prepare,
    TAKT_GCRA_ROW,
};
