/*
 * fork.c: counts the forks that led to this process (fork.h). Reading a count needs no system call;
 * getpid does.
 */
#include "base/fork.h"

#include <pthread.h>

unsigned takt_fork_count;

static void after_fork(void)
{
    takt_fork_count++;
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

void takt_fork_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch);
}
