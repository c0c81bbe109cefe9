/*
 * failing.h: makes calls of the project's own code fail, the n-th and perhaps all after it.
 *
 * A program that links failing.c with `failing` (tests/meson.build) has its calls of malloc and its
 * like go through here; calls that other libraries make are left alone, so that a number means the
 * same call on every machine.
 */
#ifndef TAKT_TESTS_MEMORY_FAILING_H
#define TAKT_TESTS_MEMORY_FAILING_H

#include <stdbool.h>
#include <stdint.h>

/* The calls that can fail. */
typedef enum failing_kind {
    FAILING_MEMORY, /* with ENOMEM: allocations, and what allocates by itself, such as getline */
    FAILING_IO      /* with ENOSPC: opening, writing and closing files */
} failing_kind;

/* From now on the first call of this kind fails of which `choose` says so, with `onwards` all later
 * ones of the kind too. */
void failing_start_choosing(failing_kind kind, bool (*choose)(void), bool onwards);

/* Whether this call fails; for the calls themselves. */
bool failing_hit(failing_kind kind);

/* From now on the n-th allocation fails, with `onwards` all later ones too.  0: none. */
void failing_start(int64_t n, bool onwards);

/* None fails any more; returns how many there were since. */
int64_t failing_stop(void);

/* Whether one has failed since failing_start. */
bool failing_struck(void);

/*
 * Calls `run` with its first allocation failing, then with its second, until it needs fewer; then
 * again with all from the n-th on. From `dense` on it leaves out more and more numbers. `run`
 * returns whether its result is right. Returns the first n with a wrong result, negative in the
 * second round; 0: all were right.
 */
int64_t failing_each(bool (*run)(void *data), void *data, int64_t dense);

#endif
