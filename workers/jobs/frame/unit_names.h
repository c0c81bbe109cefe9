/*
 * unit_names.h: the names of the units that jobs state amounts of. A waiting job keeps its amounts
 * but not its parsed fields, so the names are kept here, each once. Only names that a policy counts
 * come here, so there are few.
 */
#ifndef TAKT_WORKERS_FRAME_UNIT_NAMES_H
#define TAKT_WORKERS_FRAME_UNIT_NAMES_H

#include <stdbool.h>

#include <takt/takt.h>

typedef struct takt_unit_name takt_unit_name;

/* The amounts with names that live as long as *names. False: no memory. */
bool takt_unit_names_keep(takt_unit_name **names, const takt_amount *from,
                          takt_amount to[TAKT_AMOUNTS_MAX]);

void takt_unit_names_free(takt_unit_name *names);

#endif
