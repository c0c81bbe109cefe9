/*
 * fork.c: see fork.h.  A count instead of getpid: reading it costs no call to the system.
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
