/*
 * retry.c: computes the wait before another attempt. It reads no clock.
 */
#include "retry.h"

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int64_t takt_retry_bound(const takt_retry_rule *rule, unsigned attempt)
{
    int64_t bound = rule->first_us;

    for (unsigned i = 1; i < attempt && bound < rule->longest_us; i++)
        bound = bound > rule->longest_us / 2 ? rule->longest_us : bound * 2;
    return bound < rule->longest_us ? bound : rule->longest_us;
}

int64_t takt_retry_wait(const takt_retry_rule *rule, unsigned attempt, int64_t after_us,
                        uint64_t *random)
{
    uint64_t choices = (uint64_t)takt_retry_bound(rule, attempt) + 1;
    int64_t wait = (int64_t)(draw(random) % choices);

    return wait > after_us ? wait : after_us;
}
