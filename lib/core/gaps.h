/*
 * gaps.h: slots of the outermost ledger's paced rule that were passed over, because an inner limit
 * puts off the next slot (inner.h).
 *
 * GCRA remembers one instant.  A token taken at t, later than TAT, moves TAT behind t, and the
 * tokens between the two would be lost.  So the ledger keeps their slots as gaps until they are
 * past.  The rule has taken them: TAT behind t is the same as if they had been given.  The next
 * claim that they suit gets them.
 *
 * If the next slot by the inner rules is no whole number of emission intervals behind TAT, the rest
 * of an interval would be lost: no token fits into it.  So while others want slots such a slot is
 * put off to the next whole interval, and gaps are whole intervals.  That costs the inner limit a
 * part of its rate, and is of use only if others take the gaps.  So the ledger counts gaps that
 * pass unused.  If more than a third of them do, slots are no longer put off for a while.  A slot
 * may then be anywhere in a gap into which it fits.
 *
 * A ledger has gaps if exactly one of its rules is paced; the others count a gap when it is used.
 * Without gaps, a place whose inner rules are due later than the next slot waits while others want
 * slots, and asks again as soon as these may be given.
 */
#ifndef TAKT_CORE_GAPS_H
#define TAKT_CORE_GAPS_H

#include "core/ledger.h"

/* Gaps that pass unused are counted as an instant, takt_gaps.unused_us, which each of them moves on
 * by so many intervals.  One that is used moves it back by half of that.  When it is more than so
 * many lookaheads ahead, gaps count as of no use: it jumps to three times as many, and no gap
 * counts until it is only twice as many ahead.  Then counting begins anew. */
#define TAKT_GAPS_UNUSED_INTERVALS  50
#define TAKT_GAPS_UNUSED_LOOKAHEADS 32

/* The index of the only paced rule; -1: there is none, or more than one. */
int takt_gaps_rule(const takt_numbers *numbers);

/* Whether the ledger's rules have gaps at present: not while a brake holds the rule up.  A block's
 * pace does not, if the rule is the first one and has no burst. */
bool takt_gaps_are_kept(const takt_ledger *ledger);

/* Whether the slots of an inner limit lie whole emission intervals of the ledger's rule apart.  The
 * slots between them are then gaps, and none is lost. */
bool takt_gaps_suit(const takt_ledger *ledger, const takt_numbers *inner);

/* What slots on whole intervals leave of so many tokens of an inner limit. */
int64_t takt_gaps_leave(const takt_ledger *ledger, const takt_numbers *inner, int64_t tokens);

/* Drops those that are past, and all if the rule has changed or was set back. */
void takt_gaps_tidy(takt_ledger *ledger, int64_t now_us);

/* Whether gaps find users, so that slots that pass others over are put off to whole intervals. */
bool takt_gaps_are_used(const takt_ledger *ledger, int64_t now_us);

/* The first instant from t_us on that is a whole number of intervals behind TAT, or behind from_us
 * if that is later. */
int64_t takt_gaps_whole(const takt_ledger *ledger, int64_t from_us, int64_t t_us);

/* Before a token is taken at t_us: keeps the slots from from_us on that TAT passes over. */
void takt_gaps_pass_over(takt_ledger *ledger, int64_t from_us, int64_t t_us);

/* How many gaps there are in that time. */
int64_t takt_gaps_room(const takt_ledger *ledger, int64_t from_us, int64_t until_us);

/* The n-th gap from from_us on, n >= 1; TAKT_NEVER: there are fewer. */
int64_t takt_gaps_due(const takt_ledger *ledger, int64_t from_us, int64_t n);

/* The first instant from t_us on at which a gap can be used; TAKT_NEVER: none. */
int64_t takt_gaps_next(const takt_ledger *ledger, int64_t now_us, int64_t t_us);

/* Uses a gap at such an instant. */
void takt_gaps_take(takt_ledger *ledger, int64_t now_us, int64_t t_us);

/* The run of gaps from an instant until a slot that is taken.  Its count is 0 or less if none fits,
 * or if the rule has more than one slot in a microsecond: no run could end at a whole one. */
takt_gap takt_gaps_run(const takt_rule *rule, takt_fraction first, int64_t until_us);

#endif
