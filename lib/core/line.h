/*
 * line.h: the workers that wait for a ledger's slots, and their order.
 *
 * A worker stands in line once for each priority of its waiters.  The line is sorted by priority,
 * then by turn; a worker that was served goes to the back of its priority.  A place is dropped when
 * its worker is silent, and passed over when the worker does not claim at the time that it was
 * given.
 */
#ifndef TAKT_CORE_LINE_H
#define TAKT_CORE_LINE_H

#include "core/ledger.h"

/* without a claim for that long, a place is dropped */
#define TAKT_SILENT_US (3 * TAKT_KEEPALIVE_US)

int takt_line_find(const takt_ledger *ledger, uint64_t worker, int priority); /* -1: not in line */
/* adds it as the last of its priority; returns its index */
int takt_line_add(takt_ledger *ledger, takt_place place);
void takt_line_remove(takt_ledger *ledger, int at);

/* Applies the changes that only time brings: drops silent workers, passes over late heads. */
void takt_line_tidy(takt_ledger *ledger, int64_t now_us);

/* Whether a younger statement of the worker has arrived. */
bool takt_line_is_stale(const takt_ledger *ledger, const takt_claim *claim);

/* Counts all waiters, and the workers that they are in. */
void takt_line_count(const takt_ledger *ledger, int64_t *waiting, int64_t *workers);

#endif
