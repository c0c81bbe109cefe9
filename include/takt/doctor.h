/*
 * takt/doctor.h: can a store be used, and what will become of the quotas in it when things go
 * wrong?
 *
 * Both functions block: they run a loop of their own until everything was looked at, and give up a
 * store that does not answer.  They belong into a command or a program's start, not into a worker's
 * loop.  They take nothing of any limit of anybody: what is tried is tried on a ledger of their
 * own, which is removed again.
 */
#ifndef TAKT_DOCTOR_H
#define TAKT_DOCTOR_H

#include <stdint.h>

#include <takt/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum takt_finding_level {
    TAKT_FINDING_GOOD,    /* as it should be */
    TAKT_FINDING_NOTE,    /* worth knowing, or what could not be seen, and how to look */
    TAKT_FINDING_WARNING, /* it can be used, but may forget what was taken, or wake waiters late */
    TAKT_FINDING_ERROR    /* it cannot be used */
} takt_finding_level;

typedef struct takt_finding {
    takt_finding_level level;
    const char *subject; /* one word, such as "eviction"; static */
    const char *text;    /* what was found, and what to do about it; lives during the call.  Shows
                            nothing of a URL but host, path and database */
} takt_finding;

typedef void (*takt_finding_cb)(void *data, const takt_finding *finding);

typedef struct takt_doctor_options {
    const char *name_space; /* NULL: "default" */
    int64_t timeout_us;     /* how long an answer is waited for; 0: one second */
} takt_doctor_options;

/* The level as a word: "ok", "note", "warning", "error".  Static. */
TAKT_EXPORT const char *takt_finding_level_name(takt_finding_level level);

/*
 * Looks at the store of that URL, and tries every operation of takt there.  0 where it can be used,
 * else the code of the first error; each error has been told as a finding.  `options` may be NULL.
 */
TAKT_EXPORT int takt_doctor(const char *url, const takt_doctor_options *options,
                            takt_finding_cb on_finding, void *data);

/*
 * Loads the scripts of this version of takt into a Redis or Valkey server, for clients that must
 * not (scripts=preloaded), and looks at nothing else: the URL's user needs +script|load and no key.
 * Returns and tells as takt_doctor does.
 */
TAKT_EXPORT int takt_doctor_load_scripts(const char *url, const takt_doctor_options *options,
                                         takt_finding_cb on_finding, void *data);

#ifdef __cplusplus
}
#endif
#endif
