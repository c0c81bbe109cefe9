/*
 * bench.h: what the benches share: the clock, the count of allocations, a policy of one limit,
 * child processes and figures as JSON lines.
 */
#ifndef TAKT_BENCH_BENCH_H
#define TAKT_BENCH_BENCH_H

#include <stdint.h>
#include <takt/takt.h>

/* The monotonic clock in nanoseconds, and the processor time of this process (of its children:
 * children 1). */
int64_t bench_now_ns(void);
int64_t bench_cpu_ns(int children);

/* Calls of malloc, calloc and realloc in this process so far. */
int64_t bench_allocations(void);

/* A policy with the one limit "bench", of a rate or of permits; ends the program with a message if
 * the texts are wrong. */
takt_policy *bench_policy(const char *rate, const char *burst);
takt_policy *bench_policy_of_permits(const char *concurrency);

/* Ends the program with a message if code is negative. */
_Noreturn void bench_fail(int code, const char *what);
static inline void bench_must(int code, const char *what)
{
    if (code < 0)
        bench_fail(code, what);
}

/* Starts `count` children that each call run(index, data) and exit; waits for all. */
void bench_fork(int count, void (*run)(int index, void *data), void *data);

/* Memory that children of bench_fork share with their parent, zeroed. */
void *bench_shared(uint64_t size);

/* A fresh directory that is removed at exit, with the files in it; and a file store's URL in it. */
const char *bench_directory(void);
const char *bench_store(void);

/* The value at a quantile, 0.5 or 0.99; sorts the values. */
int64_t bench_quantile(int64_t *values, int64_t count, double quantile);

#endif
