/*
 * holders.h: who holds a ledger's permits.
 *
 * A worker states in each claim how many it holds; that is what the ledger believes from then on,
 * so a lost or repeated message can neither leak a permit nor double one.  What a worker holds is
 * free again when it has not been heard of for a lease.
 *
 * A worker gives its permits up by its own clock before the ledger does.  One that states more than
 * is written here is therefore within its lease, and the ledger has lost its memory (or its clock
 * has jumped): as much of it as is free is written down again.
 */
#ifndef TAKT_CORE_HOLDERS_H
#define TAKT_CORE_HOLDERS_H

#include "core/ledger.h"

/* All permits that are held. */
int64_t takt_holders_held(const takt_ledger *ledger);

/* Permits that nobody holds; TAKT_NEVER where the limit has no bound of them. */
int64_t takt_holders_free(const takt_ledger *ledger);

/* A worker states what it holds.  Returns what is written down, which may be less. */
int64_t takt_holders_state(takt_ledger *ledger, int64_t now_us, const takt_claim *claim);

/* It is given so many more. */
void takt_holders_give(takt_ledger *ledger, int64_t now_us, const takt_claim *claim, int64_t count);

/* The first instant at which a permit is free because a lease is over, where no worker is heard of
 * before; TAKT_NEVER if that is not before `until_us`. */
int64_t takt_holders_over_at(const takt_ledger *ledger, int64_t until_us);

/* What time alone changes: permits whose lease is over are free. */
void takt_holders_tidy(takt_ledger *ledger, int64_t now_us);

/* Whether a younger statement of the worker was heard. */
bool takt_holders_is_stale(const takt_ledger *ledger, const takt_claim *claim);

#endif
