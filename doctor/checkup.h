/*
 * checkup.h: one examination of a store (takt/doctor.h), and how its findings are reported.
 */
#ifndef TAKT_DOCTOR_CHECKUP_H
#define TAKT_DOCTOR_CHECKUP_H

#include <stdbool.h>

#include <takt/doctor.h>

#include "store/store.h"

typedef struct takt_checkup {
    const char *url;
    const char *rest; /* the URL after its scheme */
    const char *name_space;
    int64_t timeout_us;
    bool nested; /* limits within others will be used */
    takt_finding_cb on_finding;
    void *data;
    int code; /* 0, or the code of the first error */
} takt_checkup;

/* The limit of the trial; its ledgers belong to the checkups. */
#define TAKT_CHECKUP_LIMIT "takt-doctor"

/* A key of that limit that is unique to this checkup. */
#define TAKT_CHECKUP_KEY_SIZE 17
void takt_checkup_key(char key[TAKT_CHECKUP_KEY_SIZE]);

/* Reports a finding that is not an error. */
__attribute__((format(printf, 4, 5))) void takt_checkup_tell(takt_checkup *checkup,
                                                             takt_finding_level level,
                                                             const char *subject,
                                                             const char *format, ...);

/* Reports why the store cannot be used. */
__attribute__((format(printf, 4, 5))) void
takt_checkup_fail(takt_checkup *checkup, int code, const char *subject, const char *format, ...);

#define TAKT_CHECKUP_BYTES_SIZE 32

/* "12 MiB" */
const char *takt_checkup_bytes(int64_t bytes, char text[TAKT_CHECKUP_BYTES_SIZE]);

#endif
