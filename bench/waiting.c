/*
 * waiting.c: what a worker takes up while jobs wait.
 *
 *     waiting WORKER [JOBS [KEYS]]
 *
 * Starts the worker (takt-print) with so many jobs for a limit that has one slot an hour, spread
 * over so many keys, and behind them one job of another limit: its result tells that all others
 * were read, and wait.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static char path[4096];

static const char *file(const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", bench_directory(), name);
    return path;
}

static FILE *begin(const char *name)
{
    FILE *made = fopen(file(name), "w");

    bench_must(made ? 0 : TAKT_E_SYSTEM, "fopen");
    return made;
}

static void write_files(int64_t jobs, int64_t keys)
{
    FILE *policy = begin("takt.yaml");
    fputs("limits: [{name: slow, rules: [{rate: 1/h}]}, {name: fast, rules: [{rate: 1000/s}]}]\n",
          policy);
    fclose(policy);
    FILE *lines = begin("jobs");
    /* the first slot of each key is used: whoever waits, waits */
    for (int64_t i = 0; i < keys; i++)
        fprintf(lines,
                "{\"id\":\"first-%" PRId64 "\",\"limit\":\"slow\",\"key\":\"%" PRId64
                "\",\"text\":\"\"}\n",
                i, i);
    for (int64_t i = 0; i < jobs; i++)
        fprintf(lines,
                "{\"id\":\"%" PRId64 "\",\"limit\":\"slow\",\"key\":\"%" PRId64
                "\",\"text\":\"%0100d\"}\n",
                i, i % keys, 0);
    fputs("{\"id\":\"last\",\"limit\":\"fast\",\"text\":\"last\"}\n", lines);
    fclose(lines);
}

static pid_t start(char *worker, int *output)
{
    int ends[2];

    bench_must(pipe(ends) == 0 ? 0 : TAKT_E_SYSTEM, "pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        if (chdir(bench_directory()) == 0)
            execl(worker, worker, "-s", "memory:", "-i", "jobs", "--log", "none", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *output = ends[0];
    return child;
}

static void wait_for_last(int output)
{
    FILE *results = fdopen(output, "r");
    char line[1024];

    while (fgets(line, sizeof(line), results))
        if (strstr(line, "\"last\""))
            return;
    bench_must(TAKT_E_SYSTEM, "the worker ended before its last job was done");
}

/* What is resident of a process. */
static int64_t resident_bytes(pid_t process)
{
    char name[64];
    int64_t pages = 0;

    snprintf(name, sizeof(name), "/proc/%d/statm", (int)process);
    FILE *status = fopen(name, "r");
    bench_must(status && fscanf(status, "%*d %" SCNd64, &pages) == 1 ? 0 : TAKT_E_SYSTEM, name);
    fclose(status);
    return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    int64_t jobs = argc > 2 ? atoll(argv[2]) : 100000, keys = argc > 3 ? atoll(argv[3]) : 1;
    int output, status;

    if (argc < 2)
        return fputs("usage: waiting WORKER [JOBS [KEYS]]\n", stderr), 64;
    write_files(jobs, keys);
    int64_t began = bench_now_ns();
    pid_t worker = start(argv[1], &output);
    wait_for_last(output);
    int64_t took = bench_now_ns() - began, bytes = resident_bytes(worker);
    kill(worker, SIGKILL);
    waitpid(worker, &status, 0);
    remove(file("jobs.state"));
    remove(file("jobs.dead"));
    printf("{\"bench\":\"waiting\",\"jobs\":%" PRId64 ",\"keys\":%" PRId64
           ",\"resident_mb\":%.1f,\"seconds\":%.2f}\n",
           jobs, keys, (double)bytes / 1e6, (double)took / 1e9);
    return 0;
}
