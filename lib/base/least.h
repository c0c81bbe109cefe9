/*
 * least.h: the lesser and the greater of two times or counts.
 */
#ifndef TAKT_BASE_LEAST_H
#define TAKT_BASE_LEAST_H

#include <stdint.h>

static inline int64_t takt_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t takt_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
