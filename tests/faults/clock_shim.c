/*
 * clock_shim.c: preloaded into a server, shifts its wall clock by the whole microseconds that lie
 * in the file $TAKT_TEST_CLOCK, from the moment at which they are written there.  Monotonic clocks
 * are left alone, as they are where somebody sets a real clock.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static _Atomic int64_t *shift;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("TAKT_TEST_CLOCK");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *memory = MAP_FAILED;

    if (fd >= 0) {
        memory = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (memory == MAP_FAILED)
        abort(); /* otherwise a server with a right clock would pass for one with a wrong clock */
    shift = memory;
}

static int64_t wall_ns(void)
{
    struct timespec time;

    syscall(SYS_clock_gettime, CLOCK_REALTIME, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec +
           (shift != NULL ? atomic_load(shift) * 1000 : 0);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
    int64_t ns;

    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
        return (int)syscall(SYS_clock_gettime, clock, time);
    ns = wall_ns();
    *time = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}

EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    int64_t us = wall_ns() / 1000;

    (void)zone;
    *time = (struct timeval){us / 1000000, us % 1000000};
    return 0;
}

EXPORT time_t time(time_t *result)
{
    time_t seconds = wall_ns() / 1000000000;

    if (result != NULL)
        *result = seconds;
    return seconds;
}
