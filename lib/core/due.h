/*
 * due.h: what is left to places whose key is due later.
 *
 * A place whose inner limits give the next token at an instant (due_in_us) can use no slot before
 * that.  All the slots after it are left to the place, but no more than it wants.
 */
#ifndef TAKT_CORE_DUE_H
#define TAKT_CORE_DUE_H

#include "core/ledger.h"

/* Notes in each place what is open to it.  Call when that instant or the places change. */
void takt_due_open(takt_ledger *ledger, int64_t now_us);

#endif
