/*
 * reason.h: why a ledger is blocked, in a person's words.  Decides what may be said and how it
 * stands in the ledger's text, in which `;` parts the segments, and in what the scripts are told,
 * in which a blank parts the fields: `%`, `;` and the blank are written %25, %3B and %20,
 * everything else as it is.
 */
#ifndef TAKT_CORE_REASON_H
#define TAKT_CORE_REASON_H

#include <stddef.h>

#include <takt/standing.h>

#define TAKT_REASON_TEXT_MAX (3 * TAKT_REASON_SIZE_MAX)

/* takt_check_reason of takt/standing.h is defined in reason.c. */

/* A reason that was checked (NULL or "": none) as it stands in a ledger's text; returns its length.
 */
size_t takt_reason_write(const char *reason, char text[TAKT_REASON_TEXT_MAX + 1]);

/* And back.  Of what cannot be one nothing is told. */
void takt_reason_read(const char *text, size_t size, char reason[TAKT_REASON_SIZE_MAX + 1]);

#endif
