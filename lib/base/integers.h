/*
 * integers.h: minimum, maximum and rounded division of times and counts, and their bound.
 */
#ifndef TAKT_BASE_INTEGERS_H
#define TAKT_BASE_INTEGERS_H

#include <stdint.h>

#define TAKT_EXACT_MAX                                                                             \
    (INT64_C(1) << 53) /* numbers of Lua, which are doubles, are exact up to here */

__extension__ typedef __int128 takt_wide; /* products of two times or counts, on slow paths only */

static inline int64_t takt_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t takt_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a / b, rounded down or rounded up; b > 0. */
static inline int64_t takt_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static inline int64_t takt_ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

#endif
