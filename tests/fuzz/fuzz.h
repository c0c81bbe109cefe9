/*
 * fuzz.h: what the fuzzers share: the function that libFuzzer calls with one input after the other,
 * a check that ends the program, and inputs as texts and files.
 */
#ifndef TAKT_TESTS_FUZZ_H
#define TAKT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_PATH_SIZE 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not inlined, so that the stack names the failed check. */
static __attribute__((noinline)) void require(int holds)
{
    if (!holds)
        abort();
}

/* A copy with a NUL behind it, in memory of its size, so that reading beyond it is seen.  The
 * caller frees it. */
static inline char *fuzz_copy(const void *data, size_t size)
{
    char *text = malloc(size + 1);

    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* Cuts off the input's part up to the next `end`, which is in no part: a copy.  Without one the
 * part is the rest. */
static inline char *fuzz_cut(const uint8_t **data, size_t *size, char end)
{
    const uint8_t *found = *size > 0 ? memchr(*data, end, *size) : NULL;
    size_t part = found ? (size_t)(found - *data) : *size, passed = part + (found != NULL);
    char *text = fuzz_copy(*data, part);

    *data += passed;
    *size -= passed;
    return text;
}

/* A file without a name that has these bytes, and a path to it.  The caller closes it. */
static inline int fuzz_file(const void *data, size_t size, char path[FUZZ_PATH_SIZE])
{
    int file = memfd_create("fuzz", MFD_CLOEXEC);

    require(file >= 0);
    require(size == 0 || write(file, data, size) == (ssize_t)size);
    require(lseek(file, 0, SEEK_SET) == 0);
    snprintf(path, FUZZ_PATH_SIZE, "/proc/self/fd/%d", file);
    return file;
}

#endif
