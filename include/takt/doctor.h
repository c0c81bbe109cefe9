/*
 * takt/doctor.h: checks whether a store is suitable, and what a failure would cost.
 *
 * Both functions block: they run a loop of their own until everything was checked, and give up on a
 * store that does not answer.  Use them in a command or when a program starts, not in a worker's
 * loop.  They take nothing from any limit: they test a ledger of their own and remove it.
 */
#ifndef TAKT_DOCTOR_H
#define TAKT_DOCTOR_H

#include <stdint.h>

#include <takt/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum takt_finding_level {
    /* As it should be. */
    TAKT_FINDING_GOOD,
    /* Worth knowing; or what could not be checked, and how to check it. */
    TAKT_FINDING_NOTE,
    /* The store can be used, but may lose what was taken, or wake waiters late. */
    TAKT_FINDING_WARNING,
    /* The store cannot be used. */
    TAKT_FINDING_ERROR
} takt_finding_level;

typedef struct takt_finding {
    takt_finding_level level;
    /* One word, such as "eviction"; static. */
    const char *subject;
    /* What was found, and what to do about it; valid during the call.  Of a URL it shows only host,
     * path and database. */
    const char *text;
} takt_finding;

typedef void (*takt_finding_cb)(void *data, const takt_finding *finding);

typedef struct takt_doctor_options {
    const char *name_space; /* NULL: "default" */
    int64_t timeout_us;     /* how long to wait for an answer; 0: one second */
    int nested;             /* 1: limits `within` others will be used */
} takt_doctor_options;

/* The level as a word: "ok", "note", "warning", "error".  Static. */
TAKT_EXPORT const char *takt_finding_level_name(takt_finding_level level);

/*
 * Checks the store of a URL, and tries every operation of takt there.  0 if it can be used, else
 * the code of the first error; on_finding receives each error as well.  `options` may be NULL.
 */
TAKT_EXPORT int takt_doctor(const char *url, const takt_doctor_options *options,
                            takt_finding_cb on_finding, void *data);

/*
 * Loads the scripts of this version of takt into a Redis or Valkey server, for clients that must
 * not do it (scripts=preloaded), and checks nothing else.  The URL's user needs +script|load and no
 * key. Returns and reports as takt_doctor does.
 */
TAKT_EXPORT int takt_doctor_load_scripts(const char *url, const takt_doctor_options *options,
                                         takt_finding_cb on_finding, void *data);

#ifdef __cplusplus
}
#endif
#endif
