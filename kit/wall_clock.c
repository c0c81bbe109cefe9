/*
 * wall_clock.c: see wall_clock.h.
 */
#include "kit/wall_clock.h"

#include <time.h>

int64_t takt_wall_clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
