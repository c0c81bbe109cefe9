/*
 * thread_store.c: stores shared by threads, each with a loop of its own: a plain program, for
 * ThreadSanitizer. Exit status 0: every token was taken once, by any thread, while stores were
 * opened and closed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "store/rig.h"

enum { THREADS = 4, TOKENS = 4000, REOPENINGS = 40 };

struct job {
    char url[PATH_MAX + 64];
    atomic_int taken;
    atomic_int failed;
};

static void *take_all(void *argument)
{
    struct job *job = argument;
    takt_limit limit = rig_limit("a", TOKENS, RIG_DAY, TOKENS);
    struct rig rig;
    int status = 0;

    while (status == 0) {
        rig_open(&rig, job->url);
        for (int i = 0; i < TOKENS / REOPENINGS && status == 0; i++) {
            status = rig_try(&rig, &limit, "k", 1);
            atomic_fetch_add(&job->taken, status == 0);
            rig_try(&rig, &limit, "other", 1);
        }
        rig_close(&rig);
    }
    if (status != TAKT_E_NO_SLOT)
        atomic_fetch_add(&job->failed, 1);
    return NULL;
}

static int run(const char *url)
{
    static struct job job;
    pthread_t threads[THREADS];
    struct rig keeper;

    memset(&job, 0, sizeof job);
    snprintf(job.url, sizeof job.url, "%s", url);
    rig_open(&keeper, url); /* a named memory ends with its last store */
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_all, &job);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    rig_close(&keeper);
    if (atomic_load(&job.taken) == TOKENS && atomic_load(&job.failed) == 0)
        return 0;
    printf("%s: %d taken of %d, %d failed\n", url, atomic_load(&job.taken), TOKENS,
           atomic_load(&job.failed));
    return 1;
}

int main(void)
{
    char directory[PATH_MAX], url[PATH_MAX + 32];
    int failed;

    rig_directory(directory);
    snprintf(url, sizeof url, "file:%s/l", directory);
    failed = run("memory:threads") + run(url);
    rig_remove(directory);
    return failed;
}
