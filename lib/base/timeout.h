/*
 * timeout.h: a time-out that counts the time in which this program ran.
 *
 * After a pause of the program or its machine, the clock does not show whether an answer is late:
 * the answer may be in the socket, or its sender may have been stopped, too. The caller therefore
 * reads the clock several times within a time-out. The time between two looks counts for at most
 * twice the planned time, so a pause of any length costs at most a quarter of the time-out.
 *
 * This file reads no clock. Instants (`due_ns`) are in counted time.
 */
#ifndef TAKT_BASE_TIMEOUT_H
#define TAKT_BASE_TIMEOUT_H

#include <stdint.h>

#define TAKT_TIMEOUT_LOOKS 8 /* per time-out */

typedef struct takt_timeout {
    uint64_t timeout_ns;
    uint64_t counted_ns;
    uint64_t looked_at_ns; /* by the clock */
} takt_timeout;

static inline void takt_timeout_begin(takt_timeout *timeout, uint64_t timeout_ns, uint64_t now_ns)
{
    *timeout = (takt_timeout){timeout_ns, 0, now_ns};
}

/* Returns the time counted so far. */
static inline uint64_t takt_timeout_look(takt_timeout *timeout, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns - timeout->looked_at_ns;
    uint64_t max_ns = 2 * timeout->timeout_ns / TAKT_TIMEOUT_LOOKS;

    timeout->counted_ns += passed_ns < max_ns ? passed_ns : max_ns;
    timeout->looked_at_ns = now_ns;
    return timeout->counted_ns;
}

/* The end of the time-out of a request that is sent now. */
static inline uint64_t takt_timeout_due(takt_timeout *timeout, uint64_t now_ns)
{
    return takt_timeout_look(timeout, now_ns) + timeout->timeout_ns;
}

/* The milliseconds from this look to the next one. */
static inline uint64_t takt_timeout_next_ms(const takt_timeout *timeout, uint64_t due_ns)
{
    uint64_t left_ns = due_ns > timeout->counted_ns ? due_ns - timeout->counted_ns : 0;
    uint64_t max_ns = timeout->timeout_ns / TAKT_TIMEOUT_LOOKS;

    return left_ns == 0 ? 0 : (left_ns < max_ns ? left_ns : max_ns) / 1000000 + 1;
}

#endif
