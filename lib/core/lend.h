/*
 * lend.h: slots that an inner key does not let its tenant use go to others.
 *
 * Just after its turn a place of a scarce key can use no slot before its inner rules give the next
 * token.  Its text says when that is, and others leave to it only the slots from then on
 * (tenants.h).
 */
#ifndef TAKT_CORE_LEND_H
#define TAKT_CORE_LEND_H

#include "core/ledger.h"

/* The rates of levels are compared by the tokens of this many lookaheads. */
#define TAKT_LEND_LOOKAHEADS 16
/* With fewer slots in a lookahead a place gets none that the places before it want. */
#define TAKT_LEND_SLOTS 4

/* If inner limits hold up the tenant of a place, notes for all places of its inner key when they
 * give the next token.  Call when the claim was served. */
void takt_lend_note(takt_ledger *ledger, int64_t now_us, uint64_t worker);

#endif
