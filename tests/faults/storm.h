/*
 * storm.h: 500 workers that lose their server together must not come back together.
 */
#ifndef TAKT_TESTS_FAULTS_STORM_H
#define TAKT_TESTS_FAULTS_STORM_H

#include "faults/fleet.h"

void storm(struct fleet *fleet, const char *name);

#endif
