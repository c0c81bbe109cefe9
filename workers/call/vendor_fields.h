/*
 * vendor_fields.h: what a vendor's answer says is left of its quota, from the header fields that
 * vendors use for it.  Reads texts, and nothing else: whether a word is believed is learn.c's
 * affair.
 *
 *     RateLimit: "burst";r=10;t=1, "day";r=90;t=3600      the IETF's draft, 08 and later
 *     RateLimit: limit=100, remaining=10, reset=5         ... 07 and before
 *     RateLimit-Remaining: 10    RateLimit-Reset: 5       ... the first ones
 *     X-RateLimit-Remaining: 10  X-RateLimit-Reset: 1763692800, or 5    what many send
 *     X-Rate-Limit-Remaining: 10 X-Rate-Limit-Reset: 5    what some send
 */
#ifndef TAKT_WORKERS_CALL_VENDOR_FIELDS_H
#define TAKT_WORKERS_CALL_VENDOR_FIELDS_H

#include <stdint.h>

#define VENDOR_UNSAID (-1)

/* VENDOR_UNSAID where it is not said. */
typedef struct takt_caller_vendor_word {
    int64_t remaining; /* tokens that are left */
    int64_t reset;     /* seconds until there are more, or the second of the epoch */
} takt_caller_vendor_word;

#define VENDOR_KINDS 4

/* What one answer says, by the kinds of fields. */
typedef struct takt_caller_vendor_fields {
    takt_caller_vendor_word words[VENDOR_KINDS];
} takt_caller_vendor_fields;

void takt_caller_vendor_fields_begin(takt_caller_vendor_fields *fields);

/* A header field, whose name is in lower case.  Others, and those that cannot be read, say nothing.
 */
void takt_caller_vendor_fields_read(takt_caller_vendor_fields *fields, const char *name,
                                    const char *value);

/*
 * What they say together: the kind that has the least left.  *word's reset is in seconds from the
 * answer on: `answered_at_s` is the answer's own Date, in seconds of the epoch.
 */
void takt_caller_vendor_fields_tell(const takt_caller_vendor_fields *fields, int64_t answered_at_s,
                                    takt_caller_vendor_word *word);

#endif
