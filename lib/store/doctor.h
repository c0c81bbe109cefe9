/*
 * doctor.h: one look at a store (takt/doctor.h), as the kinds of stores see it: what each of them
 * finds out about itself goes through these functions.
 */
#ifndef TAKT_STORE_DOCTOR_H
#define TAKT_STORE_DOCTOR_H

#include <takt/doctor.h>

#include "store/store.h"

struct takt_checkup {
    const char *name_space;
    int64_t timeout_us;
    takt_finding_cb on_finding;
    void *data;
    int code; /* 0, or that of the first error */
};

/* The limit that is tried; its ledgers are the checkups' own. */
#define TAKT_CHECKUP_LIMIT "takt-doctor"

/* A key of that limit that no other checkup has. */
#define TAKT_CHECKUP_KEY_SIZE 17
void takt_checkup_key(char key[TAKT_CHECKUP_KEY_SIZE]);

/* Tells a finding that is no error. */
__attribute__((format(printf, 4, 5))) void takt_checkup_tell(takt_checkup *checkup,
                                                             takt_finding_level level,
                                                             const char *subject,
                                                             const char *format, ...);

/* Tells why the store cannot be used. */
__attribute__((format(printf, 4, 5))) void
takt_checkup_fail(takt_checkup *checkup, int code, const char *subject, const char *format, ...);

/* "3 days", "12 min", "40 us": exact enough for a person. */
#define TAKT_CHECKUP_SPAN_SIZE 32
const char *takt_checkup_span(int64_t span_us, char text[TAKT_CHECKUP_SPAN_SIZE]);

/* "12 MiB" */
const char *takt_checkup_bytes(int64_t bytes, char text[TAKT_CHECKUP_SPAN_SIZE]);

/* ---- doctor_use.c ---------------------------------------------------------------------------- */

/* Opens the store and tries every operation on a ledger of its own. */
void takt_checkup_use(takt_checkup *checkup, const char *url);

#endif
