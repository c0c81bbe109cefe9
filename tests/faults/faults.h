/*
 * faults.h: the list of the faults, one function each. A function gets an empty fleet and closes it
 * at its end.
 */
#ifndef TAKT_TESTS_FAULTS_FAULTS_H
#define TAKT_TESTS_FAULTS_FAULTS_H

#include "faults/fleet.h"

struct fault {
    const char *name;
    void (*run)(struct fleet *fleet, const char *name);
};

extern const struct fault server_faults[]; /* each list ends with NULL */
extern const struct fault connection_faults[];
extern const struct fault clock_faults[];
extern const struct fault cluster_faults[];
extern const struct fault heavy_faults[]; /* each takes many seconds of a processor */

#endif
