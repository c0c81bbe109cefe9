/*
 * brake.h: the pace that a ledger keeps beside its rules: after a block the first rule's rate, for
 * as long as the block lasted, and where the limit has `adapt`, what each penalty leaves of that
 * rate, and how it comes back with time.
 *
 * A ledger that keeps such a pace has one rule more, the brake: GCRA at that part of the first
 * rule's rate, which begins without a burst.  There is only one: of a block's pace and a penalty's
 * the lower rate is in force, and each ends for itself.  The policy's own rules stay in force, so
 * the rate is never above the policy's, nor, over any time, above what the brake lets through.  A
 * block takes nothing from them.  The part is whole percents: products of it with any rate that a
 * policy may have `adapt` for are exact, here and in a script.
 */
#ifndef TAKT_CORE_BRAKE_H
#define TAKT_CORE_BRAKE_H

#include "core/ledger.h"

#define TAKT_WHOLE_PERCENT   100
#define TAKT_SAME_PENALTY_US INT64_C(1000000)  /* reports of one event come within that time */
#define TAKT_PACED_MAX_US    INT64_C(60000000) /* no block is paced longer than that */

/* Whether a limit's numbers can be kept exactly at each part of the rate that its `adapt` allows.
 */
bool takt_brake_fits(const takt_numbers *numbers);

/*
 * A vendor has said "too many": the rate falls, unless this is another report of an event that has
 * counted: within a second of it, or while a ledger that is braked is blocked.  Before the block
 * that comes with it.
 */
void takt_brake_penalize(takt_ledger *ledger, int64_t now_us);

/* The ledger's block begins, or ends later or sooner than it did: for as long as it lasts, the
 * pace is kept from its end on.  A block that begins while one is paced goes on with that one. */
void takt_brake_pace(takt_ledger *ledger, int64_t now_us);

/* Nothing was saved up at that instant: the brake lets the next token through then, and so on. */
void takt_brake_exhaust(takt_ledger *ledger, int64_t at_us);

/* What time has brought back of the rate; while the ledger is blocked nothing comes.  A pace that
 * has been kept for long enough ends. */
void takt_brake_tidy(takt_ledger *ledger, int64_t now_us);

/* The ledger has gone over to its numbers from others, under which the brake's state was `kept`: it
 * goes on under the new ones.  What penalties did goes, where they have no `adapt`. */
void takt_brake_follow(takt_ledger *ledger, const takt_rule_state *kept, int64_t now_us);

/* Takes the brake off. */
void takt_brake_release(takt_ledger *ledger);

/* The rate is the policy's again, and only a block that lasts is paced at its end. */
void takt_brake_reset(takt_ledger *ledger, int64_t now_us);

/* The brake of a ledger that is read from a text, its state yet to come.  False: there can be none
 * like that. */
bool takt_brake_restore(takt_ledger *ledger);

/* When, if there is no other penalty and no other block, the brake will be off; 0: it is. */
int64_t takt_brake_ends_at(const takt_ledger *ledger);

#endif
