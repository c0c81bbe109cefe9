/*
 * leaky_bucket.c: a queue that drains steadily: one token per emission interval and never two at
 * once, which is GCRA with a burst of 1; at most `queue` waiters in the whole fleet. The limit
 * bounds the waiters; gcra.c has the arithmetic.
 */
#include "rules/gcra.h"

const takt_algorithm takt_leaky_bucket = {
    .name = "leaky-bucket",
    .takes = TAKT_TAKES_QUEUE,
    .prepare = takt_gcra_prepare,
    TAKT_GCRA_ROW,
};
