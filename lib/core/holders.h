/*
 * holders.h: which workers hold a ledger's permits.
 *
 * A worker states in each claim how many permits it holds, and the ledger then records that number.
 * So a lost or repeated message can neither leak a permit nor duplicate one.  If a worker makes no
 * claim for a lease, its permits are free again.
 *
 * A worker gives up its permits by its own clock before the ledger does.  So a worker that states
 * more than is recorded here is within its lease, and the ledger has lost its memory (or its clock
 * has jumped): the ledger records as many of them again as are free.
 */
#ifndef TAKT_CORE_HOLDERS_H
#define TAKT_CORE_HOLDERS_H

#include "core/ledger.h"

/* The number of permits held. */
int64_t takt_holders_held(const takt_ledger *ledger);

/* The number of free permits; TAKT_NEVER: their number is not limited. */
int64_t takt_holders_free(const takt_ledger *ledger);

/* How many of that many permits the ledger would record for the claim's worker. */
int64_t takt_holders_accepted(const takt_ledger *ledger, const takt_claim *claim, int64_t holding);

/* A worker states what it holds.  Returns the number that is recorded, which may be lower. */
int64_t takt_holders_state(takt_ledger *ledger, int64_t now_us, const takt_claim *claim);

/* Records that number, as far as there are permits. */
void takt_holders_record(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                         int64_t held);

/* Gives the worker so many more permits. */
void takt_holders_give(takt_ledger *ledger, int64_t now_us, const takt_claim *claim, int64_t count);

/* The next fencing number. The numbers grow with the clock, also when the ledger was forgotten in
 * between. */
int64_t takt_holders_next_fence(const takt_ledger *ledger, int64_t now_us);

/* The first instant at which the end of a lease frees a permit, unless its worker claims before;
 * TAKT_NEVER: not before `until_us`. */
int64_t takt_holders_over_at(const takt_ledger *ledger, int64_t until_us);

/* Frees the permits whose lease is over. */
void takt_holders_tidy(takt_ledger *ledger, int64_t now_us);

/* Whether a younger statement of the worker has arrived. */
bool takt_holders_is_stale(const takt_ledger *ledger, const takt_claim *claim);

#endif
