/*
 * brake.h: the effective rate of a ledger whose limit has `adapt`: what each penalty leaves of the
 * first rule's rate, and how it comes back with time.
 *
 * A ledger that is braked keeps one rule more, the brake: GCRA at that part of the first rule's
 * rate, which begins without a burst.  The policy's own rules stay in force, so the rate is never
 * above the policy's, nor, over any time, above what the brake lets through.  The part is whole
 * percents: products of it with any rate that a policy may have `adapt` for are exact, here and in
 * a script.
 */
#ifndef TAKT_CORE_BRAKE_H
#define TAKT_CORE_BRAKE_H

#include "core/ledger.h"

#define TAKT_WHOLE_PERCENT   100
#define TAKT_SAME_PENALTY_US INT64_C(1000000) /* reports of one event come within that time */

/* Whether a limit's numbers can be kept exactly at each part of the rate that its `adapt` allows.
 */
bool takt_brake_fits(const takt_numbers *numbers);

/*
 * A vendor has said "too many": the rate falls, unless this is another report of an event that has
 * counted: within a second of it, or while a ledger that is braked is blocked.  Before the block
 * that comes with it.
 */
void takt_brake_penalize(takt_ledger *ledger, int64_t now_us);

/* What time has brought back of the rate; while the ledger is blocked nothing comes. */
void takt_brake_tidy(takt_ledger *ledger, int64_t now_us);

/* The ledger has gone over to its limit from one of so many rules: the brake goes on under the new
 * numbers, or goes, where they have no `adapt`. */
void takt_brake_follow(takt_ledger *ledger, const takt_rule_state *kept, int64_t now_us);

/* Takes the brake off. */
void takt_brake_release(takt_ledger *ledger);

/* The brake of a ledger that is read from a text, its state yet to come.  False: there can be none
 * like that. */
bool takt_brake_restore(takt_ledger *ledger);

/* When, if there is no other penalty, the rate will be the policy's again; 0: it is. */
int64_t takt_brake_ends_at(const takt_ledger *ledger);

#endif
