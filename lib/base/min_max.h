/*
 * min_max.h: the smaller and the larger of two times or counts.
 */
#ifndef TAKT_BASE_MIN_MAX_H
#define TAKT_BASE_MIN_MAX_H

#include <stdint.h>

static inline int64_t takt_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t takt_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
