/*
 * cold.c: from the start of a process to its first grant over a socket, and beside it to the first
 * answer that a bare hiredis program has.  In turn, so that a noisy machine disturbs both alike.
 *
 *     cold FIRST BARE [TIMES]        FIRST, BARE: the paths of the two programs
 */
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bench.h"
#include "direct.h"
#include "server.h"

extern char **environ;

/* How long after its start the program had what it prints. */
static int64_t time_ns(const char *const *arguments, int output[2])
{
    int64_t begin_ns = bench_now_ns();
    char told[64] = "";
    pid_t child;
    int status;
    posix_spawn_file_actions_t actions;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output[1], 1);
    if (posix_spawn(&child, arguments[0], &actions, NULL, (char *const *)(uintptr_t)arguments,
                    environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0 ||
        read(output[0], told, sizeof told - 1) <= 0) {
        fprintf(stderr, "%s failed\n", arguments[0]);
        exit(1);
    }
    posix_spawn_file_actions_destroy(&actions);
    return strtoll(told, NULL, 10) - begin_ns;
}

static const char *sha1(void)
{
    uv_loop_t loop;

    uv_loop_init(&loop);
    bench_direct_open(&loop, bench_server_socket());
    bench_direct_close();
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return bench_direct_sha1();
}

int main(int argc, char **argv)
{
    int output[2];
    double first_ms, bare_ms;

    if (argc < 3) {
        fprintf(stderr, "usage: cold FIRST BARE [TIMES]\n");
        return 64;
    }
    if (pipe(output) < 0)
        return 1;
    const char *first[] = {argv[1], bench_server(), NULL};
    const char *bare[] = {argv[2], bench_server_socket(), sha1(), NULL};
    int count = argc > 3 ? atoi(argv[3]) : 200;
    int64_t *first_ns = calloc((size_t)count, sizeof *first_ns),
            *bare_ns = calloc((size_t)count, sizeof *bare_ns);
    time_ns(first, output); /* loads the script, and both programs into the system's memory */
    time_ns(bare, output);
    for (int i = 0; i < count; i++) {
        first_ns[i] = time_ns(first, output);
        bare_ns[i] = time_ns(bare, output);
    }
    first_ms = (double)bench_quantile(first_ns, count, 0.5) / 1e6;
    bare_ms = (double)bench_quantile(bare_ns, count, 0.5) / 1e6;
    printf("{\"bench\":\"cold\",\"times\":%d,\"first_grant_p50_ms\":%.3f,"
           "\"bare_hiredis_p50_ms\":%.3f,\"more_ms\":%.3f}\n",
           count, first_ms, bare_ms, first_ms - bare_ms);
    free(first_ns);
    free(bare_ns);
    return 0;
}
