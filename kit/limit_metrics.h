/*
 * limit_metrics.h: the state of limits as metric families, for programs that look at them
 * regularly.
 */
#ifndef TAKT_KIT_LIMIT_METRICS_H
#define TAKT_KIT_LIMIT_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include <takt/takt.h>

/* The figures of a limit and key. */
typedef struct takt_limit_facts {
    const char *limit, *key; /* key NULL: the limit as a whole */
    const takt_standing *standing;
    double rate;                    /* tokens a second that the fleet takes; negative: unknown */
    int64_t quota_tokens, quota_us; /* of the first rule; 0: none */
} takt_limit_facts;

/* Writes all families. facts() fills in the facts of the limit at an index; false: there are none,
 * and the limit has no samples. */
void takt_limit_metrics_write(FILE *out, size_t count,
                              bool (*facts)(const void *data, size_t index,
                                            takt_limit_facts *facts),
                              const void *data);

#endif
