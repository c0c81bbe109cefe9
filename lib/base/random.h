/*
 * random.h: a small random number generator (splitmix64: Steele, Lea, Flood 2014) for jitter and
 * worker names. The caller owns the state, so a simulation with the same seed gives the same
 * result. It is not suitable for secrets.
 */
#ifndef TAKT_BASE_RANDOM_H
#define TAKT_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t takt_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A number from 0 to below - 1; below > 0. The bias is less than 2^-32 for all uses in takt. */
static inline int64_t takt_random_below(uint64_t *state, int64_t below)
{
    return (int64_t)(takt_random(state) % (uint64_t)below);
}

#endif
