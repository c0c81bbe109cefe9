/*
 * scratch_file.h: reads and damages the file of a store from outside, with LMDB itself. Only while
 * no store of this process has it open.
 */
#ifndef TAKT_TESTS_STORE_SCRATCH_FILE_H
#define TAKT_TESTS_STORE_SCRATCH_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/rig.h"

struct scratch {
    char directory[PATH_MAX];
    char path[PATH_MAX + 16]; /* the file's */
    char url[PATH_MAX + 32];
};

void scratch_init(struct scratch *scratch);
void scratch_remove(struct scratch *scratch);

/* Whether DIRECTORY/NAME exists. */
bool scratch_has(const struct scratch *scratch, const char *name);

/* How many records there are, that of the format included. */
size_t scratch_count(const struct scratch *scratch);

/* Writes one record. */
void scratch_put(const struct scratch *scratch, const void *name, size_t name_size,
                 const char *text);

/* Reads and writes the file as bytes. */
size_t scratch_read(const struct scratch *scratch, char *bytes, size_t size);
void scratch_write(const struct scratch *scratch, size_t at, const void *bytes, size_t size);

/* How often this process has the file open. */
int scratch_descriptors(const struct scratch *scratch);

/* A file with that many ledgers ("key-0", ...), made by a store. */
void scratch_make(struct scratch *scratch, const takt_limit *limit, int ledgers);

/* Opening must fail with that code and with a message that contains `says`. */
void scratch_expect_refused(const char *url, int code, const char *says);

/* Opening must succeed. */
void scratch_expect_accepted(const char *url);

/* Begins a write transaction and stops in it (SIGSTOP); gives it up when continued.  For a process
 * of its own. */
int scratch_stop_inside(void *scratch);

#endif
