/*
 * patience.h: how long answers are waited for, counted in time in which this program ran.
 *
 * Who was stopped, or on a machine that was, cannot tell by the clock that an answer is late: it
 * may lie in the socket, or its sender may have been stopped as well.  So whoever waits looks at
 * the clock several times, and what lies between two looks counts for no more than twice what was
 * asked for: a pause of any length costs a quarter of the patience.
 *
 * Nothing here reads a clock.  Instants (`due_ns`) are in time that was counted.
 */
#ifndef TAKT_STORE_PATIENCE_H
#define TAKT_STORE_PATIENCE_H

#include <stdint.h>

#define TAKT_PATIENCE_LOOKS 8 /* within one time-out */

typedef struct takt_patience {
    uint64_t timeout_ns;
    uint64_t counted_ns;
    uint64_t looked_at_ns; /* by the clock */
} takt_patience;

static inline void takt_patience_begin(takt_patience *patience, uint64_t timeout_ns,
                                       uint64_t now_ns)
{
    *patience = (takt_patience){timeout_ns, 0, now_ns};
}

/* Returns what is counted by now. */
static inline uint64_t takt_patience_look(takt_patience *patience, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns - patience->looked_at_ns;
    uint64_t most_ns = 2 * patience->timeout_ns / TAKT_PATIENCE_LOOKS;

    patience->counted_ns += passed_ns < most_ns ? passed_ns : most_ns;
    patience->looked_at_ns = now_ns;
    return patience->counted_ns;
}

/* When the patience with what is asked now is over. */
static inline uint64_t takt_patience_due(takt_patience *patience, uint64_t now_ns)
{
    return takt_patience_look(patience, now_ns) + patience->timeout_ns;
}

/* After so many milliseconds it is to be looked at the clock again, after a look just now. */
static inline uint64_t takt_patience_next_ms(const takt_patience *patience, uint64_t due_ns)
{
    uint64_t left_ns = due_ns > patience->counted_ns ? due_ns - patience->counted_ns : 0;
    uint64_t most_ns = patience->timeout_ns / TAKT_PATIENCE_LOOKS;

    return left_ns == 0 ? 0 : (left_ns < most_ns ? left_ns : most_ns) / 1000000 + 1;
}

#endif
