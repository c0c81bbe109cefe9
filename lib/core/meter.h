/*
 * meter.h: how many tokens of a ledger are taken, counted only while somebody watches.
 *
 * A watcher says how long it will go on watching; until then each token that is taken is counted.
 * The count only grows meanwhile, so that each of several watchers sees what was taken between two
 * looks of its own.  A ledger that nobody watches stores no count.
 */
#ifndef TAKT_CORE_METER_H
#define TAKT_CORE_METER_H

#include "core/ledger.h"

/* Stops counting. */
void takt_meter_end(takt_ledger *ledger);

/* Drops a count whose watchers are gone, or that another clock began. */
void takt_meter_tidy(takt_ledger *ledger, int64_t now_us);

/* Counts tokens that were taken; a negative number: tokens that were returned unused. */
void takt_meter_add(takt_ledger *ledger, int64_t tokens);

#endif
