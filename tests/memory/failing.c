/*
 * failing.c: see failing.h.
 */
#include "memory/failing.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static failing_kind kind;
static bool (*chooses)(void); /* else the calls are counted */
static _Atomic int64_t calls, failing;
static atomic_bool onwards, struck;

static void start(failing_kind which, bool (*choose)(void), bool all_later)
{
    kind = which;
    chooses = choose;
    calls = 0;
    struck = false;
    onwards = all_later;
}

void failing_start(int64_t n, bool all_later)
{
    start(FAILING_MEMORY, NULL, all_later);
    failing = n;
}

void failing_start_choosing(failing_kind which, bool (*choose)(void), bool all_later)
{
    start(which, choose, all_later);
}

int64_t failing_stop(void)
{
    failing = 0;
    return calls;
}

bool failing_struck(void)
{
    return struck;
}

static bool counts_down(void)
{
    int64_t n = failing, call = atomic_fetch_add(&calls, 1) + 1;

    return n > 0 && (onwards ? call >= n : call == n);
}

bool failing_hit(failing_kind which)
{
    if (which != kind || !(chooses ? (struck ? onwards : chooses()) : counts_down()))
        return false;
    struck = true;
    errno = kind == FAILING_MEMORY ? ENOMEM : ENOSPC;
    return true;
}

int64_t failing_each(bool (*run)(void *data), void *data, int64_t dense)
{
    for (int all_later = 0; all_later < 2; all_later++)
        for (int64_t n = 1;; n += n < dense ? 1 : n / 16) {
            bool good;
            failing_start(n, all_later);
            good = run(data);
            if (!good)
                return all_later ? -n : n;
            if (failing_stop() < n)
                break;
        }
    return 0;
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* The names are the linker's. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define WRAP(result, name, parameters, arguments)                                                  \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        return failing_hit(FAILING_MEMORY) ? NULL : __real_##name arguments;                       \
    }

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, (void *memory, size_t size), (memory, size))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t size), (text, size))
WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size))

ssize_t __real_getline(char **line, size_t *capacity, FILE *stream);
ssize_t __wrap_getline(char **line, size_t *capacity, FILE *stream);
ssize_t __wrap_getline(char **line, size_t *capacity, FILE *stream)
{
    return failing_hit(FAILING_MEMORY) ? -1 : __real_getline(line, capacity, stream);
}

/* What getline is where the compiler optimizes. */
ssize_t __real___getdelim(char **line, size_t *capacity, int end, FILE *stream);
ssize_t __wrap___getdelim(char **line, size_t *capacity, int end, FILE *stream);
ssize_t __wrap___getdelim(char **line, size_t *capacity, int end, FILE *stream)
{
    return failing_hit(FAILING_MEMORY) ? -1 : __real___getdelim(line, capacity, end, stream);
}

int __wrap_asprintf(char **text, const char *format, ...);
int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    int size;

    if (failing_hit(FAILING_MEMORY))
        return -1;
    va_start(arguments, format);
    size = vasprintf(text, format, arguments);
    va_end(arguments);
    return size;
}

/* What asprintf is with _FORTIFY_SOURCE. */
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...);
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
{
    va_list arguments;
    int size;

    (void)flag;
    if (failing_hit(FAILING_MEMORY))
        return -1;
    va_start(arguments, format);
    size = vasprintf(text, format, arguments);
    va_end(arguments);
    return size;
}
