/*
 * memory_space.h: the ledgers of a memory store: records under a mutex, private to one store or
 * shared by all stores of this process that name the same space.  Decides when records are
 * forgotten; when calls are run and answered is left to memory.c.
 */
#ifndef TAKT_STORE_MEMORY_SPACE_H
#define TAKT_STORE_MEMORY_SPACE_H

#include "store/record.h"

#define TAKT_SPACE_NAME_MAX 64

typedef struct takt_space takt_space;

/* The space of that name, made if nobody has it yet; "" is always a new one, private to its opener.
 * NULL without memory. */
takt_space *takt_space_open(const char *name);

/* The last one to close a space forgets its records. */
void takt_space_close(takt_space *space);

/* Runs the calls (linked by their `link`) in order, at one instant, and fills their outputs. */
void takt_space_run(takt_space *space, const char *name_space, takt_link *calls);

/* Tells the ledgers of a namespace, `max` at most. */
void takt_space_list(takt_space *space, const char *name_space, size_t max, takt_list_found found,
                     void *data);

/* How many records there are. */
size_t takt_space_count(takt_space *space);

#endif
