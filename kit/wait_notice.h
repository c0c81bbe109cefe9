/*
 * What a program waits for, as a text for a person at the terminal. A short wait has no notice;
 * during a longer one the ledger is read once a second. If it holds nothing up, the ledgers of the
 * limits that the waiter's limit is within are read as well. The caller shows the text.
 */
#ifndef TAKT_KIT_WAIT_NOTICE_H
#define TAKT_KIT_WAIT_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include <takt/takt.h>

#define TAKT_WAIT_NOTICE_SIZE 256

/* While the store is unreachable. */
#define TAKT_WAIT_NOTICE_STORE "store unreachable, retrying"

/* The oldest waiter.  The keys in `within_keys` must stay until the client is closed. */
typedef struct takt_wait_notice_waiter {
    const takt_request *request;
    int64_t count; /* waiters of this process for that limit and key, at least 1 */
} takt_wait_notice_waiter;

/* All zeros before its first use.  The memory must stay until the client is closed. */
typedef struct takt_wait_notice {
    /* private */
    takt_call call;
    takt_client *client;
    bool looking;  /* calls are under way, one after the other */
    bool outdated; /* the call was made for another waiter */
    bool waiting;  /* at the last tick */
    uint64_t starts, since_ms, looked_at_ms;
    char limit[TAKT_NAME_SIZE_MAX + 1], key[TAKT_KEY_SIZE_MAX + 1];
    char asked[TAKT_NAME_SIZE_MAX + 1]; /* the limit that the call asks, of a policy that may end */
    int level;                          /* how far out it is; 0: it is the waiter's own */
    const char *within_keys[TAKT_LEVELS_MAX - 1];
    int64_t cost, count;
    int64_t quota_tokens, quota_us; /* the rate of the first rule; 0: none */
    int64_t position;               /* in the fleet; 0: unknown */
    int64_t watched_since_us, taken;
    char found[TAKT_WAIT_NOTICE_SIZE]; /* by the calls so far */
    char text[TAKT_WAIT_NOTICE_SIZE];
} takt_wait_notice;

/*
 * Call it a few times a second with the oldest waiter (NULL: none), the number of waiters started
 * so far, whether the store is unreachable, and the loop's time. Returns the notice, or "": nothing
 * waits, a waiter has started within the last two seconds, or the store has not answered yet.
 */
const char *takt_wait_notice_tick(takt_wait_notice *notice, takt_client *client,
                                  const takt_wait_notice_waiter *waiter, uint64_t starts,
                                  bool store_lost, uint64_t now_ms);

/* The wording: "blocked until 23:24:44: maintenance", "position 41, about 12 s".  The rate is the
 * first rule's (tokens 0: there are no rules); `position` is 1 for the next waiter to start. */
const char *takt_wait_notice_text(const takt_standing *standing, int64_t position, int64_t cost,
                                  int64_t quota_tokens, int64_t quota_us,
                                  char text[TAKT_WAIT_NOTICE_SIZE]);

#endif
