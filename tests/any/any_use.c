/*
 * any_use.c: the client used in any order that takt/takt.h allows, over every kind of store: a
 * plain program, so that every sanitizer can follow it.
 *
 * Each seed is a world of two loops and up to four clients. Permits are acquired, cancelled,
 * released, settled and freed; ledgers are blocked, penalized and reset; policies are reloaded;
 * clients are opened and closed; and a Redis server is restarted, paused and cut off, also from
 * inside the callbacks. any_jobs.c is the model that checks each step. In the end there are no
 * waiters and no held permits, the loops end by themselves, and all handles and descriptors are
 * closed.
 *
 * any_use [SEEDS [STEPS]]: so many seeds from TAKT_SEED on; exit status 0: all checks passed.
 */
#include "any/any.h"

#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "seed.h"

enum { SEEDS = 25, STEPS = 400, PATIENCE_S = 120 };

int64_t below(int64_t limit)
{
    return takt_random_below(&here.random, limit);
}

bool one_in(int64_t n)
{
    return below(n) == 0;
}

void fail(const char *file, int line, const char *what, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fprintf(stderr, "%s:%d: %s: ", file, line, what);
    vfprintf(stderr, format, values);
    fprintf(stderr, "; try again with TAKT_SEED=%" PRIu64 " any_use 1\n", here.seed);
    va_end(values);
    abort();
}

static void on_alarm(int number)
{
    (void)number;
    fail(__FILE__, __LINE__, "alarm", "a world does not end");
}

static int count_descriptors(void)
{
    DIR *open = opendir("/proc/self/fd");
    int count = 0;

    while (open && readdir(open))
        count++;
    if (open)
        closedir(open);
    return count;
}

static void run(uint64_t seed, int steps)
{
    int before = count_descriptors();

    alarm(PATIENCE_S);
    world_begin(seed, (store_kind)(seed % KINDS));
    while (steps-- > 0)
        do_anything();
    world_end();
    if (here.kind != REDIS) /* a server that is restarted leaves us its log */
        MUST(count_descriptors() == before, "%d descriptors, not %d", count_descriptors(), before);
    alarm(0);
}

int main(int argc, char **argv)
{
    int seeds = argc > 1 ? atoi(argv[1]) : SEEDS, steps = argc > 2 ? atoi(argv[2]) : STEPS;
    uint64_t first = test_seed(1);
    uv_loop_t loop;

    signal(SIGALRM, on_alarm);
    uv_loop_init(&loop); /* what libuv keeps for the process is there from now on */
    uv_loop_close(&loop);
    server_start(&server, NULL);
    for (uint64_t seed = first; seed < first + (uint64_t)seeds; seed++)
        run(seed, steps);
    server_stop(&server);
    return 0;
}
