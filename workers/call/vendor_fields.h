/*
 * vendor_fields.h: how much of a vendor's quota is left, by the header fields that vendors use for
 * it. This file only reads texts; learn.c decides whether to use the numbers.
 *
 *     RateLimit: "burst";r=10;t=1, "day";r=90;t=3600      the IETF's draft, 08 and later
 *     RateLimit: limit=100, remaining=10, reset=5         ... 07 and before
 *     RateLimit-Remaining: 10    RateLimit-Reset: 5       ... the first ones
 *     X-RateLimit-Remaining: 10  X-RateLimit-Reset: 1763692800, or 5    common
 *     X-Rate-Limit-Remaining: 10 X-Rate-Limit-Reset: 5    less common
 */
#ifndef TAKT_WORKERS_CALL_VENDOR_FIELDS_H
#define TAKT_WORKERS_CALL_VENDOR_FIELDS_H

#include <stdint.h>

#define VENDOR_UNSAID (-1)

/* VENDOR_UNSAID: the answer does not say. */
typedef struct takt_caller_vendor_word {
    int64_t remaining; /* tokens left */
    int64_t reset;     /* seconds until the quota is refilled, or that second of the epoch */
} takt_caller_vendor_word;

#define VENDOR_KINDS 4

/* The numbers of one answer, by kind of field. */
typedef struct takt_caller_vendor_fields {
    takt_caller_vendor_word words[VENDOR_KINDS];
} takt_caller_vendor_fields;

void takt_caller_vendor_fields_begin(takt_caller_vendor_fields *fields);

/* Reads a header field, with its name in lower case. Other fields and unreadable ones are
 * ignored. */
void takt_caller_vendor_fields_read(takt_caller_vendor_fields *fields, const char *name,
                                    const char *value);

/*
 * The result of all fields: the kind with the least left. *word's reset is in seconds after the
 * answer. `answered_at_s` is the answer's own Date, in seconds of the epoch.
 */
void takt_caller_vendor_fields_tell(const takt_caller_vendor_fields *fields, int64_t answered_at_s,
                                    takt_caller_vendor_word *word);

#endif
