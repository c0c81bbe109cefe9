/*
 * due.h: which slots other places leave to a place whose inner limits give no token yet.
 *
 * Its text says when they give the next one (due_in_us).  The place can use no slot before that
 * instant.  Others leave it all slots from then on, but no more than it wants.
 */
#ifndef TAKT_CORE_DUE_H
#define TAKT_CORE_DUE_H

#include "core/ledger.h"

/* Notes in each place what is open to it.  Call when that instant or the places change. */
void takt_due_open(takt_ledger *ledger, int64_t now_us);

#endif
