/*
 * vendor_fields.h: reads what is left of a vendor's quota from the header fields that a limit
 * learns from (`learn` in its policy). learn.c decides whether to use the numbers.
 *
 * learn: headers
 *     RateLimit: "burst";r=10;t=1, "day";r=90;t=3600      the IETF's draft, 08 and later
 *     RateLimit: limit=100, remaining=10, reset=5         ... 07 and before
 *     RateLimit-Remaining: 10    RateLimit-Reset: 5       ... the first ones
 *     X-RateLimit-Remaining: 10  X-RateLimit-Reset: 1763692800, or 5    common
 *     X-Rate-Limit-Remaining: 10 X-Rate-Limit-Reset: 5    less common
 *
 * The other words mean one vendor's fields, or those that the policy names.
 */
#ifndef TAKT_WORKERS_CALL_VENDOR_FIELDS_H
#define TAKT_WORKERS_CALL_VENDOR_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include <takt/policy.h>

#include "vendor_text.h"

#define VENDOR_UNSAID      (-1)
#define VENDOR_WORDS_MAX   4
#define VENDOR_HEADER_SIZE 65 /* a header's name with its NUL, as long as a policy allows */

/* What an answer says of one quota. */
typedef struct takt_caller_vendor_word {
    const char *unit;  /* what is counted; NULL: not said */
    int64_t remaining; /* what is left; VENDOR_UNSAID: not said */
    int64_t reset_us;  /* time from the answer until the quota is full; VENDOR_UNSAID: not said */
    bool trickles;     /* the quota refills gradually until then */
} takt_caller_vendor_word;

/* What the fields of one answer say, by kind of field. */
typedef struct takt_caller_vendor_fields {
    /* Set by takt_caller_vendor_fields_open. */
    takt_learn learn;
    char remaining[VENDOR_HEADER_SIZE], reset[VENDOR_HEADER_SIZE]; /* of TAKT_LEARN_FIELDS */
    char unit[TAKT_UNIT_SIZE_MAX + 1];
    /* Of the answer. */
    int64_t counts[VENDOR_WORDS_MAX];
    takt_caller_reset resets[VENDOR_WORDS_MAX]; /* us VENDOR_UNSAID: not said */
} takt_caller_vendor_fields;

/* Sets the fields to read: those that the limit learns from. Keeps copies. */
void takt_caller_vendor_fields_open(takt_caller_vendor_fields *fields, const takt_policy *policy,
                                    const char *limit);

/* Forgets what an answer said. */
void takt_caller_vendor_fields_begin(takt_caller_vendor_fields *fields);

/* Reads a header field, with its name in lower case. Other fields and unreadable ones are
 * ignored. */
void takt_caller_vendor_fields_read(takt_caller_vendor_fields *fields, const char *name,
                                    const char *value);

/*
 * What all fields say, at most one word for each unit; those of `learn: headers` are one word, that
 * of the kind with the least left. `answered_at_s` is the answer's own Date, in seconds of the
 * epoch. Returns the number of words; the strings are valid as long as the fields.
 */
int takt_caller_vendor_fields_tell(const takt_caller_vendor_fields *fields, int64_t answered_at_s,
                                   takt_caller_vendor_word words[VENDOR_WORDS_MAX]);

#endif
