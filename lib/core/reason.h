/*
 * reason.h: why a ledger is blocked, in a person's words. Decides which texts are allowed, and how
 * a reason is encoded in the ledger's text, where `;` separates the segments, and in script calls,
 * where a blank separates the fields: `%`, `;` and the blank become %25, %3B and %20.
 */
#ifndef TAKT_CORE_REASON_H
#define TAKT_CORE_REASON_H

#include <stddef.h>

#include <takt/standing.h>

#define TAKT_REASON_TEXT_MAX (3 * TAKT_REASON_SIZE_MAX)

/* takt_check_reason of takt/standing.h is defined in reason.c. */

/* Encodes a checked reason (NULL or "": none) for a ledger's text; returns its length. */
size_t takt_reason_write(const char *reason, char text[TAKT_REASON_TEXT_MAX + 1]);

/* Decodes a reason. An invalid one becomes "". */
void takt_reason_read(const char *text, size_t size, char reason[TAKT_REASON_SIZE_MAX + 1]);

#endif
