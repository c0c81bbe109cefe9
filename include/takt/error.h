/*
 * takt/error.h: negative error codes and their texts.
 *
 * A function that can fail returns 0 or one of these codes.  Functions that read something a person
 * wrote (a policy, a rate, a store's URL) also fill a takt_error.  Its text says what is wrong,
 * where, and what to write instead.  Failing functions do not change their outputs.
 */
#ifndef TAKT_ERROR_H
#define TAKT_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TAKT_EXPORT __attribute__((visibility("default")))
#else
#define TAKT_EXPORT
#endif

enum {
    TAKT_OK = 0,
    TAKT_E_INVALID = -1,        /* an argument is not what the header asks for */
    TAKT_E_NOMEM = -2,          /* no memory */
    TAKT_E_NO_LIMIT = -3,       /* the policy has no limit of that name */
    TAKT_E_COST = -4,           /* more than can ever be given; takt_check_request says why */
    TAKT_E_NO_SLOT = -5,        /* takt_try_acquire: no slot is due now */
    TAKT_E_DEADLINE = -6,       /* no slot within max_wait_us */
    TAKT_E_FULL = -7,           /* more than max_waiting wait, and this waiter lost its place */
    TAKT_E_CANCELED = -8,       /* takt_cancel, or the client was closed */
    TAKT_E_BUSY = -9,           /* the permit or call is in use, or too many calls are */
    TAKT_E_POLICY = -10,        /* the policy cannot be accepted */
    TAKT_E_STORE = -11,         /* the store is unreachable or failed */
    TAKT_E_STORE_TIMEOUT = -12, /* the store did not answer in time */
    TAKT_E_STORE_URL = -13,     /* not a store's URL */
    TAKT_E_STORE_ACCESS = -14,  /* the store refuses us: no permission, not writable */
    TAKT_E_STORE_SPACE = -15,   /* the store is full: disk, quota, memory */
    TAKT_E_STORE_FORMAT = -16,  /* the store has another format version, or is not takt's */
    TAKT_E_SYSTEM = -17,        /* the system refused a thread, a timer or a descriptor */
    TAKT_E_LEASE = -18,         /* held up for longer than a lease: the permit is lost */
    TAKT_E_OVERTAKEN = -19,     /* applying a policy: the store has another policy by now */
    TAKT_E_FORKED = -20         /* the client belongs to the parent of this process */
};

/* One sentence about a code, for a person; never NULL.  The string is static. */
TAKT_EXPORT const char *takt_strerror(int code);

/* The code's name without its prefix, e.g. "NO_LIMIT"; "UNKNOWN" for other numbers.  Static. */
TAKT_EXPORT const char *takt_error_name(int code);

#define TAKT_ERROR_TEXT_SIZE 512

/* Filled on failure only, by the functions that take one.  The caller's memory; may be NULL. */
typedef struct takt_error {
    /* One of the codes above. */
    int code;
    /* What is wrong, where, and what to write instead; ends with NUL. */
    char text[TAKT_ERROR_TEXT_SIZE];
} takt_error;

#ifdef __cplusplus
}
#endif
#endif
