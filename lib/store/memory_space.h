/*
 * memory_space.h: the ledgers of a memory store: records under a mutex, private to one store or
 * shared by all stores of this process that name the same space. Decides when records are removed;
 * memory.c decides when calls run.
 */
#ifndef TAKT_STORE_MEMORY_SPACE_H
#define TAKT_STORE_MEMORY_SPACE_H

#include "store/record.h"

#define TAKT_SPACE_NAME_MAX 64

typedef struct takt_space takt_space;

/* The space of that name, created if it does not exist; "" is always a new one, private to its
 * opener. NULL: no memory. */
takt_space *takt_space_open(const char *name);

/* The last store that closes a space frees its records. */
void takt_space_close(takt_space *space);

/* Runs the calls (linked by their `link`) in order, at one instant, and fills their outputs. */
void takt_space_run(takt_space *space, const char *name_space, takt_link *calls);

/* Lists the ledgers of a namespace, `max` at most. */
void takt_space_list(takt_space *space, const char *name_space, size_t max, takt_list_found found,
                     void *data);

/* The number of records. */
size_t takt_space_count(takt_space *space);

#endif
