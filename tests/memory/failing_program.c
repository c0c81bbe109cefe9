/*
 * failing_program.c: makes calls of a whole program fail.  $TAKT_TEST_FAILING is "memory 7" or
 * "io 7": the seventh call of that kind; "memory 7+": all from it on.  Where a call has failed,
 * the program leaves the file $TAKT_TEST_FAILED when it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/failing.h"

__attribute__((constructor)) static void begin(void)
{
    const char *what = getenv("TAKT_TEST_FAILING");
    const char *number = what ? strchr(what, ' ') : NULL;

    if (number)
        failing_start_kind(what[0] == 'm' ? FAILING_MEMORY : FAILING_IO, atoll(number + 1),
                           strchr(number, '+') != NULL);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("TAKT_TEST_FAILED");

    if (path && failing_struck())
        close(creat(path, 0600));
}

/* ---- the calls ------------------------------------------------------------------------------- */

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define WRAP(result, failed, name, parameters, arguments)                                          \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        return failing_hit(FAILING_IO) ? (failed) : __real_##name arguments;                       \
    }

WRAP(ssize_t, -1, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
WRAP(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, NULL, fopen64, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, NULL, fdopen, (int fd, const char *mode), (fd, mode))
WRAP(int, -1, ftruncate, (int fd, off_t size), (fd, size))
WRAP(int, -1, ftruncate64, (int fd, off_t size), (fd, size))
WRAP(int, -1, rename, (const char *from, const char *to), (from, to))
WRAP(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, -1, fsync, (int fd), (fd))
WRAP(int, -1, __open64_2, (const char *path, int flags), (path, flags))
WRAP(int, -1, __open_2, (const char *path, int flags), (path, flags))

/* jansson's allocations are its own again: without memory it asserts. */
void __wrap_json_set_alloc_funcs(void *(*allocate)(size_t), void (*release)(void *));
void __wrap_json_set_alloc_funcs(void *(*allocate)(size_t), void (*release)(void *))
{
    (void)allocate;
    (void)release;
}

/* The mode argument is always read; the real function ignores it without O_CREAT. */
#define WRAP_OPEN(name)                                                                            \
    int __real_##name(const char *path, int flags, ...);                                           \
    int __wrap_##name(const char *path, int flags, ...);                                           \
    int __wrap_##name(const char *path, int flags, ...)                                            \
    {                                                                                              \
        va_list arguments;                                                                         \
        mode_t mode;                                                                               \
        va_start(arguments, flags);                                                                \
        mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;                                    \
        va_end(arguments);                                                                         \
        return failing_hit(FAILING_IO) ? -1 : __real_##name(path, flags, mode);                    \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)

/* The file is flushed and closed all the same. */
#define WRAP_END(name)                                                                             \
    int __real_##name(FILE *file);                                                                 \
    int __wrap_##name(FILE *file);                                                                 \
    int __wrap_##name(FILE *file)                                                                  \
    {                                                                                              \
        bool fails = failing_hit(FAILING_IO);                                                      \
        int ended = __real_##name(file);                                                           \
        errno = fails ? ENOSPC : errno;                                                            \
        return fails ? EOF : ended;                                                                \
    }

WRAP_END(fflush)
WRAP_END(fclose)
