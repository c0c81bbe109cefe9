/*
 * startup.c: what `takt run` adds to a command: how long /bin/true takes alone, and behind takt
 * with a free slot.
 *
 *     startup TAKT [TIMES]          TAKT: the path of the command
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

static int64_t time_ns(char *const *arguments)
{
    int64_t begin = bench_now_ns();
    pid_t child;
    int status;

    if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s failed\n", arguments[0]);
        exit(1);
    }
    return bench_now_ns() - begin;
}

static double median_ms(int64_t *times, int count)
{
    return (double)bench_quantile(times, count, 0.5) / 1e6;
}

int main(int argc, char **argv)
{
    char *const plain[] = {"/bin/true", NULL};
    char *with[] = {NULL,      "run",  "bench", "--rate",    "1000000/s",
                    "--burst", "1000", "--",    "/bin/true", NULL};

    if (argc < 2) {
        fprintf(stderr, "usage: startup TAKT [TIMES]\n");
        return 64;
    }
    int count = argc > 2 ? atoi(argv[2]) : 100;
    int64_t *alone = calloc((size_t)count, sizeof *alone),
            *behind = calloc((size_t)count, sizeof *behind);
    with[0] = argv[1];
    setenv("TAKT_STORE", bench_store(), 1);
    time_ns(with);                    /* makes the store */
    for (int i = 0; i < count; i++) { /* in turn, so that a noisy machine disturbs both alike */
        alone[i] = time_ns(plain);
        behind[i] = time_ns(with);
    }
    printf("{\"bench\":\"startup\",\"times\":%d,\"true_ms\":%.3f,\"takt_run_true_ms\":%.3f}\n",
           count, median_ms(alone, count), median_ms(behind, count));
    free(alone);
    free(behind);
    return 0;
}
