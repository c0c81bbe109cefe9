/*
 * watched.h: how much of a limit is taken, counted only while somebody looks.
 *
 * Who looks says for how long it will look again; until then each token that is taken is counted.
 * The count only grows while it lasts, so each of several who look sees what came between two looks
 * of its own.  A ledger that nobody looks at keeps nothing of it.
 */
#ifndef TAKT_CORE_WATCHED_H
#define TAKT_CORE_WATCHED_H

#include "core/ledger.h"

/* Nobody looks. */
void takt_watched_end(takt_ledger *ledger);

/* Forgets a count that nobody looks at any more, or that is of another clock. */
void takt_watched_tidy(takt_ledger *ledger, int64_t now_us);

/* So many tokens were taken; fewer than none: of what was taken, so many were not used. */
void takt_watched_add(takt_ledger *ledger, int64_t tokens);

#endif
