/*
 * line.h: who waits for a ledger's slots, in which order.
 *
 * A worker stands in line once for each priority that it has waiters of.  The line is sorted by
 * priority, then by turn; who was served goes to the back of its priority.  A place is dropped when
 * its worker falls silent, and stepped round when the worker does not come when it was told to.
 */
#ifndef TAKT_CORE_LINE_H
#define TAKT_CORE_LINE_H

#include "core/ledger.h"

#define TAKT_SILENT_US (3 * TAKT_KEEPALIVE_US) /* without a claim a place is dropped then */

int takt_line_find(const takt_ledger *ledger, uint64_t worker, int priority); /* -1: nowhere */
int takt_line_add(takt_ledger *ledger, takt_place place); /* as the last of its priority; where */
void takt_line_remove(takt_ledger *ledger, int at);

/* What time alone changes: drops the silent, steps round heads that are late. */
void takt_line_tidy(takt_ledger *ledger, int64_t now_us);

/* Whether a younger statement of the worker was heard. */
bool takt_line_is_stale(const takt_ledger *ledger, const takt_claim *claim);

/* All who wait, and the workers they wait in. */
void takt_line_count(const takt_ledger *ledger, int64_t *waiting, int64_t *workers);

#endif
