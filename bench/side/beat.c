/*
 * beat.c: what the machine can do meanwhile: a process that only sleeps from beat to beat, beside
 * those of a tool that is paced.  Where its gaps are uneven, nobody's could have been even.
 */
#include <time.h>

#include "plan.h"

int main(int argc, char **argv)
{
    struct timespec at;
    int64_t at_us;

    side_read_plan(argc, argv);
    side_wait_for_all();
    for (int64_t beat = 0;; beat++) {
        at_us = side.begin_us + beat * 1000000 / side.rate;
        if (at_us >= side.end_us)
            break;
        at = (struct timespec){at_us / 1000000, at_us % 1000000 * 1000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
            ;
        side_granted(0);
    }
    side_tell();
    return 0;
}
