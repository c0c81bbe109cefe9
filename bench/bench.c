/*
 * bench.c: see bench.h.
 */
#include "bench.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int64_t bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int64_t bench_cpu_ns(int children)
{
    struct rusage usage;

    getrusage(children ? RUSAGE_CHILDREN : RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

/* glibc lets a program put its own functions before the C library's; these count and pass on. */
static atomic_int_fast64_t allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return __libc_realloc(memory, size);
}

int64_t bench_allocations(void)
{
    return atomic_load(&allocations);
}

void bench_fail(int code, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, takt_strerror(code));
    exit(1);
}

static takt_policy *policy_of(const takt_limit_text *limit)
{
    takt_policy *policy;
    takt_error error;

    bench_must(takt_policy_new(&policy, NULL), "takt_policy_new");
    if (takt_policy_add(policy, limit, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return policy;
}

takt_policy *bench_policy(const char *rate, const char *burst)
{
    takt_rule_text rule = {.rate = rate, .burst = burst};

    return policy_of(&(takt_limit_text){.name = "bench", .rules = &rule, .rule_count = 1});
}

takt_policy *bench_policy_of_permits(const char *concurrency)
{
    return policy_of(&(takt_limit_text){.name = "bench", .concurrency = concurrency});
}

void bench_fork(int count, void (*run)(int index, void *data), void *data)
{
    pid_t *children = calloc((size_t)count, sizeof *children);
    int failed = 0, status;

    fflush(NULL);
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child < 0) {
            perror("fork");
            exit(1);
        }
        if (child == 0) {
            run(i, data);
            fflush(NULL);
            _exit(0);
        }
        children[i] = child;
    }
    for (int i = 0; i < count; i++) /* there may be others: a server */
        failed |= waitpid(children[i], &status, 0) != children[i] || status != 0;
    free(children);
    if (failed) {
        fprintf(stderr, "a bench process failed\n");
        exit(1);
    }
}

void *bench_shared(uint64_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return memory;
}

static char directory[] = "/tmp/takt-bench-XXXXXX";
static pid_t maker;

static void remove_directory(void)
{
    DIR *opened = getpid() == maker ? opendir(directory) : NULL;
    const struct dirent *entry;

    if (opened == NULL)
        return;
    while ((entry = readdir(opened)) != NULL)
        unlinkat(dirfd(opened), entry->d_name, 0);
    closedir(opened);
    rmdir(directory);
}

const char *bench_directory(void)
{
    if (maker == 0) {
        if (!mkdtemp(directory)) {
            perror(directory);
            exit(1);
        }
        maker = getpid();
        atexit(remove_directory);
    }
    return directory;
}

const char *bench_store(void)
{
    static char url[64];

    snprintf(url, sizeof url, "file:%s/bench.mdb", bench_directory());
    return url;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int64_t bench_quantile(int64_t *values, int64_t count, double quantile)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[(int64_t)((double)count * quantile)];
}
