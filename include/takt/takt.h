/*
 * takt/takt.h: acquire and release for workers that share one rate.
 *
 * A worker asks for a permit before each unit of work.  The permit is the caller's memory (put it
 * into your job).  The callback comes when the slot is due, on the loop's thread, and never inside
 * the call that asked.
 *
 *     static void start(takt_permit *permit, int status)
 *     {
 *         if (status == 0) do_work(permit->data);
 *         takt_release(permit);
 *     }
 *     takt_request request = TAKT_REQUEST("sendgrid");
 *     takt_acquire(client, &job->permit, &request, start);
 *
 * Units: times and durations are int64 microseconds.  Instants (`_at_us`) follow the store's clock,
 * since the Unix epoch.  Threads: call every function on the thread of the client's loop; for
 * threads that block see takt/sync.h.
 *
 * Loop: an open client keeps the loop alive while a permit waits, while a call is under way, and
 * while a permit of a limit with concurrency is held.  Otherwise uv_run may return; the client
 * stays open until takt_close.
 *
 * fork: a client belongs to the process that opened it.  In a child the functions that use it fail
 * with TAKT_E_FORKED, and permits stay with the parent.  The child may takt_close its copy of the
 * client, which tells the store nothing, and open a client of its own.  A policy may be used and
 * freed on both sides.
 *
 * docs/c-api.md has the longer explanations.
 */
#ifndef TAKT_H
#define TAKT_H

#include <stdint.h>

#include <takt/error.h>
#include <takt/links.h>
#include <takt/policy.h>
#include <takt/standing.h>
#include <takt/store.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* libuv's loop: this header does not need <uv.h> */

typedef struct takt_client takt_client;
typedef struct takt_permit takt_permit;
typedef struct takt_call takt_call;

/* Read during the call only.  Initialise it with TAKT_REQUEST: a cost of 0 is invalid. */
typedef struct takt_request {
    /* A limit of the policy. */
    const char *limit;
    /* The key, such as an account or an address; NULL: the limit as a whole. */
    const char *key;
    /* Tokens, 1 to TAKT_COST_MAX; for limits whose rules name no unit. */
    int32_t cost;
    /* 0 (most urgent) to 9, or TAKT_PRIORITY_POLICY. */
    int32_t priority;
    /* Fail with TAKT_E_DEADLINE after that time, or as soon as it is known that the waiters ahead
     * leave no slot until then; 0: wait without a limit. */
    int64_t max_wait_us;
    /* With `within`: the keys of the outer limits, that of the next outer one first; NULL: that
     * limit as a whole.  More keys than outer limits are invalid. */
    const char *within_keys[TAKT_LEVELS_MAX - 1];
    /* For limits whose rules name units: an amount of each unit, 1 to TAKT_COST_MAX.  Each level
     * takes the amounts of the units that it counts.  A unit that no level counts is invalid.  Unit
     * NULL: not used. */
    takt_amount amounts[TAKT_AMOUNTS_MAX];
    /* With `fair: tenant`: for whom the work is, at most TAKT_TENANT_SIZE_MAX bytes.  All work with
     * NULL or "" takes turns as one tenant.  A limit without `fair` ignores it. */
    const char *tenant;
} takt_request;

#ifdef __cplusplus
#define TAKT_REQUEST(name)                                                                         \
    takt_request                                                                                   \
    {                                                                                              \
        (name), nullptr, 1, TAKT_PRIORITY_POLICY, 0, {}, {}, nullptr                               \
    }
#else
#define TAKT_REQUEST(name) ((takt_request){(name), 0, 1, TAKT_PRIORITY_POLICY, 0, {0}, {{0, 0}}, 0})
#endif

/*
 * status 0: the slot is due; start the work, then takt_release.  Else a code of takt/error.h, and
 * nothing was taken.  TAKT_E_STORE... comes only if the limit's on_store_failure is `closed`.  Each
 * accepted takt_acquire has exactly one callback.  In it, `permit` may be released and then freed
 * or used for another acquire, and the client may be closed.  After a failure nothing is to be
 * released.
 */
typedef void (*takt_acquire_cb)(takt_permit *permit, int status);

/* The shadow waiter of a permit; private.  Its memory may have been reused: it is the same waiter
 * only if `number` is the same. */
typedef struct takt_shadow_ref {
    struct takt_shadow_waiter *shadow_waiter;
    int64_t number;
} takt_shadow_ref;

/*
 * The caller's memory from takt_acquire until takt_release or the callback with an error.  Fill it
 * with zeros before its first use; set `data` as you like.
 */
struct takt_permit {
    /* public */
    void *data;
    /* read-only, valid in and after the callback */

    /* The slot, by the store's clock.  0: not granted, or granted by shadow limits or unlimited
     * keys alone, or by on_store_failure `open` before the store was ever reached. */
    int64_t slot_at_us;
    /* With concurrency the fencing number, which only grows per limit and key (docs/policy.md,
     * "lease"); with several levels that of the innermost limit with concurrency; else 0. */
    int64_t fence;
    /* With TAKT_E_DEADLINE, TAKT_E_FULL and TAKT_E_NO_SLOT: after what time to try again.  One
     * lookahead if a permit of `concurrency` was lacking.  0: at once, or the time is unknown. */
    int64_t retry_after_us;
    /* private */
    takt_link line;     /* among the waiters of its priority */
    takt_node deadline; /* in the heap of deadlines */
    struct takt_queue *queue;
    takt_client *client;
    takt_acquire_cb callback;
    int64_t deadline_at_us;
    int32_t cost;
    takt_more more;
    int8_t priority;
    uint8_t state;
    int16_t status;
    uint8_t hold;      /* whether it holds a permit of its queue's limits with concurrency */
    uint8_t shadow;    /* it is a shadow waiter's */
    uint8_t ticket;    /* of an agent */
    uint8_t uncharged; /* granted without the store */
    uint8_t counted;   /* by the ledger, among the waiters */
    uint8_t levels;    /* how many enforcing limits gave its slot, the innermost first */
    uint8_t left;      /* with TAKT_E_FULL: in which way */
    uint8_t shadowed;  /* bits of its levels in shadow, the innermost first */
    /* The queue of its limits in shadow, which its shadow waiter comes to when the work starts, and
     * what it takes there; NULL: none. */
    struct takt_queue *shadow_queue;
    int32_t shadow_cost;
    takt_more shadow_more;
    takt_shadow_ref shadow_ref;
};

/* Events that no callback reports.  The strings are valid during the call. */
typedef enum takt_event_type {
    /* Claims fail; sent once until the store is back. */
    TAKT_EVENT_STORE_LOST = 1,
    /* Claims succeed again. */
    TAKT_EVENT_STORE_BACK,
    /* A limit uses its on_store_failure; sent once per limit and loss. */
    TAKT_EVENT_FALLBACK,
    /* A damaged store file was set aside and a new one started: state was lost. */
    TAKT_EVENT_STORE_REPLACED,
    /* An unreadable ledger was started anew, blocked for a period. */
    TAKT_EVENT_LEDGER_DAMAGED,
    /* This process was held up for longer than a lease: it has lost a granted permit, which another
     * worker has or will get. */
    TAKT_EVENT_PERMIT_LOST,
    /* A newer stored policy is in force: the text names version, author and changes. */
    TAKT_EVENT_POLICY,
    /* The stored policy cannot be used: the previous one stays in force. */
    TAKT_EVENT_POLICY_REFUSED,
    /* The store has other rules of the same revision for a limit, of other workers or of an earlier
     * policy. They are in force for ten seconds, and as long as workers claim with them. Sent with
     * the first such answer, once per limit. Increase `revision` with each change of a policy. */
    TAKT_EVENT_POLICY_DIFFERS
} takt_event_type;

typedef struct takt_event {
    takt_event_type type;
    /* The cause, a code of takt/error.h. */
    int code;
    /* One sentence for a log. */
    const char *text;
    /* FALLBACK, POLICY_DIFFERS: the limit's name; else NULL. */
    const char *limit;
    /* PERMIT_LOST: the permit, which you must still release; else NULL. */
    takt_permit *permit;
} takt_event;

typedef struct takt_options {
    /* A store's URL; NULL: $TAKT_STORE, else the policy's, else "file:". */
    const char *store;
    /* Separates fleets in one store; NULL: the policy's, else "default".  A name has 1 to
     * TAKT_NAME_SIZE_MAX of a-z A-Z 0-9 . _ -; takt_open refuses others.  A namespace in braces
     * ("{mail}") keeps all its ledgers in one hash slot of a Redis Cluster; nested limits need that
     * there. */
    const char *name_space;
    /* Time limit for one call to the store; 0: one second.  A pause of this process counts for at
     * most a quarter of it. */
    int64_t store_timeout_us;
    /* May be NULL.  It may call everything that callbacks may, takt_reload and takt_close too. */
    void (*on_event)(takt_client *client, const takt_event *event, void *data);
    void *data;
    /* The secret of limits with `key_hash`, the same in all workers, 16 to 255 bytes; NULL:
     * $TAKT_KEY_SECRET, else the first line of the file that $TAKT_KEY_SECRET_FILE names. */
    const char *key_secret;
} takt_options;

/*
 * Opens a client on a loop, and its store.  `options` and `error` may be NULL.  Opening reads and
 * may create a file: do it when the program starts.  On failure nothing is left behind and `error`
 * has the reason.  The policy may be freed in the callback of takt_close, or later.
 *
 * A policy with `policy: store` may be freed after this call.  The call then waits up to
 * store_timeout_us for the stored policy (TAKT_E_POLICY: missing or unusable).  The client follows
 * later versions, and TAKT_EVENT_POLICY reports each.
 */
TAKT_EXPORT int takt_open(takt_client **client, struct uv_loop_s *loop, const takt_policy *policy,
                          const takt_options *options, takt_error *error);

/*
 * Gives the client another policy; it no longer follows a stored one.  Waiters and permits
 * continue under the new numbers (docs/c-api.md, "Changing the policy").  Store and namespace do
 * not change.  The previous policy is still in use: free both in the callback of takt_close, or
 * later.
 *
 * Returns 0, TAKT_E_POLICY, TAKT_E_INVALID (the policy says `policy: store`), TAKT_E_CANCELED (the
 * client is closing), TAKT_E_FORKED or TAKT_E_NOMEM; on failure nothing changes.
 */
TAKT_EXPORT int takt_reload(takt_client *client, const takt_policy *policy, takt_error *error);

/* The client's current policy: the one that it was given, or the stored one that it follows.  That
 * is valid until the next TAKT_EVENT_POLICY. */
TAKT_EXPORT const takt_policy *takt_get_policy(const takt_client *client);

/* Checks a request: 0, or the code that takt_acquire would return.  `error` says why; for
 * TAKT_E_COST it names the limit, the rule that bounds the cost, and the highest possible cost. */
TAKT_EXPORT int takt_check_request(const takt_policy *policy, const takt_request *request,
                                   takt_error *error);

/*
 * Waits for a permit.  0: accepted, the callback will come.  Otherwise nothing was begun and no
 * callback comes: TAKT_E_INVALID, TAKT_E_NO_LIMIT, TAKT_E_COST (takt_check_request says which rule
 * bounds it), TAKT_E_BUSY (the permit waits, or was granted and not released), TAKT_E_CANCELED (the
 * client is closing), TAKT_E_FORKED or TAKT_E_NOMEM.
 */
TAKT_EXPORT int takt_acquire(takt_client *client, takt_permit *permit, const takt_request *request,
                             takt_acquire_cb callback);

/*
 * Releases a permit, after its work or instead of it.  Safe in any state, also twice.  A waiter is
 * cancelled without a callback.
 *
 * A granted permit of limits with rates alone holds nothing: its memory may be reused for something
 * else or freed without a release.  Only another takt_acquire with it needs the release
 * (TAKT_E_BUSY).  Release it all the same if the policy may change: `concurrency` and `mode:
 * shadow` need the end of the work.
 */
TAKT_EXPORT void takt_release(takt_permit *permit);

/*
 * 1 while the holder of a granted permit may continue; 0 after its release, or after the lease
 * ended because this process was held up (a long callback, SIGSTOP, a closed laptop).  It reads the
 * clock, so it notices before the event does.  Without concurrency there is no lease: 1.
 */
TAKT_EXPORT int takt_is_held(const takt_permit *permit);

/*
 * Stops waiting: the callback comes later, with TAKT_E_CANCELED.  TAKT_E_INVALID: the permit does
 * not wait.  A slot that was already awarded for it goes to the next waiter of this client, or is
 * handed back to the store (docs/c-api.md, "Unused slots").
 */
TAKT_EXPORT int takt_cancel(takt_permit *permit);

/*
 * Calls that read or change a ledger.  The takt_call is the caller's memory until its callback;
 * fill it with zeros before its first use.  The callback comes exactly once, never inside the call.
 * `standing` is the state after the call, valid during the callback; NULL if the store failed, and
 * status says how, or if a try asked no ledger because its keys are unlimited.  The functions
 * return the codes of takt_acquire.
 */
typedef void (*takt_call_cb)(takt_call *call, int status, const takt_standing *standing);

struct takt_call {
    void *data; /* public: yours */
    /* private */
    takt_call_cb callback;
    struct takt_calling *calling;
};

/*
 * takt_block, takt_penalize, takt_lower, takt_unblock and takt_reset also take NULL as both the
 * call and the callback.  Such a detached call is in the client's memory and nothing reports how it
 * ends.  takt_close waits for it, as for any call.  If the store fails it may be lost, and
 * TAKT_EVENT_STORE_LOST reports the store.  TAKT_E_BUSY: TAKT_DETACHED_MAX are under way.
 */
#define TAKT_DETACHED_MAX 1000

/*
 * Tries once, without waiting: status 0 (granted; release `permit` later) or TAKT_E_NO_SLOT
 * (nothing was taken; see standing->retry_after_us).  It does not overtake waiters, and ignores
 * priority and max_wait_us.  Until the callback `permit` is busy, and takt_release does nothing to
 * it.
 *
 * With concurrency a client sends its tries for one limit and key one after the other: n tries take
 * n round trips.  With `within` one call takes from all limits or from none; `standing` is that of
 * the limit that refuses for the longest time, else of the one with the least remaining.  While the
 * store is lost on_store_failure decides (docs/c-api.md, "Tries").
 */
TAKT_EXPORT int takt_try_acquire(takt_client *client, takt_call *call, takt_permit *permit,
                                 const takt_request *request, takt_call_cb callback);

/*
 * Reports what a granted permit's work has actually used: `count` amounts, each 0 to
 * TAKT_SETTLED_MAX, of units that the limits of `request` count, the one of its acquire.  Other
 * amounts stay as they were taken.  Count 0: the work did not begin, and all amounts are returned.
 * A higher amount is taken before the next slots.  The rest of a lower amount is returned, except
 * what another worker may already have been served from (docs/c-api.md, "Settling").
 *
 * Call it once, before or after takt_release; there is no callback.  If the store fails the
 * estimate stands.  0, or TAKT_E_INVALID, _NO_LIMIT, _NOMEM, _CANCELED or _FORKED.
 */
TAKT_EXPORT int takt_settle(takt_permit *permit, const takt_request *request,
                            const takt_amount *used, int count);

#ifndef __cplusplus
/* The last two arguments of takt_settle for a limit whose rules name no unit: the actual cost. */
#define TAKT_USED(cost) &(const takt_amount){0, (cost)}, 1
#endif

/* Reads the state and takes nothing; retry_after_us is for a cost of 1.  It ignores
 * on_store_failure: if the store fails, so does this call. */
TAKT_EXPORT int takt_peek(takt_client *client, takt_call *call, const char *limit, const char *key,
                          takt_call_cb callback);

/*
 * Like takt_peek, and counts tokens in standing->taken for the next `for_us` (1 to
 * TAKT_WATCH_MAX_US, else TAKT_E_INVALID), in the whole fleet.  Between two calls with the same
 * watched_since_us, the rate is the difference of `taken` over that of now_us; if it has changed,
 * the count began anew.  Clients share one count.  Watching costs writes (docs/c-api.md,
 * "Watching a rate").
 */
TAKT_EXPORT int takt_watch(takt_client *client, takt_call *call, const char *limit, const char *key,
                           int64_t for_us, takt_call_cb callback);

/*
 * No slot for `for_us` from now, in the whole fleet; never shortens a block.  Workers hold back the
 * slots that they already have, usually at once, at the latest at their next claim.  A block takes
 * no tokens.  For as long as it lasted, and a minute at most, work then starts at the rate of the
 * limit's first rule, without a burst.
 *
 * `reason` (NULL: none) is one line of up to TAKT_REASON_SIZE_MAX bytes of UTF-8; else
 * TAKT_E_INVALID.  It stays until the block ends or a longer block has another reason.
 */
TAKT_EXPORT int takt_block(takt_client *client, takt_call *call, const char *limit, const char *key,
                           int64_t for_us, const char *reason, takt_call_cb callback);

/*
 * Reports that a vendor refused work for going too fast (HTTP's 429).  Blocks for `for_us`
 * (Retry-After; 0: none given).  With `adapt` it also lowers the rate in the whole fleet, which
 * recovers with time.  Every worker may report it: reports of one event, within a second or during
 * its block, extend the block and lower the rate once.
 */
TAKT_EXPORT int takt_penalize(takt_client *client, takt_call *call, const char *limit,
                              const char *key, int64_t for_us, const char *reason,
                              takt_call_cb callback);

/*
 * Reduces what is left to `remaining`, in all rules of the limit that count `unit` ("tokens",
 * "requests"; NULL: tokens, or requests if no rule counts tokens); for what a vendor says of its
 * quota.  Never adds, so several workers may report the same answer.  Outer limits do not change.
 * TAKT_E_INVALID: also if no rule of the limit counts the unit.
 */
TAKT_EXPORT int takt_lower(takt_client *client, takt_call *call, const char *limit, const char *key,
                           const char *unit, int64_t remaining, takt_call_cb callback);

/* Ends a block.  Work continues as after any block: for as long as the block lasted, and a minute
 * at most, at the first rule's rate without a burst, or at what penalties have left of that rate.
 */
TAKT_EXPORT int takt_unblock(takt_client *client, takt_call *call, const char *limit,
                             const char *key, takt_call_cb callback);

/* Resets rules and penalties, as if nothing had ever been taken.  Waiters keep their places, and a
 * block stays. */
TAKT_EXPORT int takt_reset(takt_client *client, takt_call *call, const char *limit, const char *key,
                           takt_call_cb callback);

/* What a client has done since it was opened. */
typedef struct takt_stats {
    int64_t acquires;    /* accepted */
    int64_t grants;      /* callbacks with status 0 */
    int64_t store_calls; /* claims and other calls sent to the store */
    int64_t waiting;     /* waiters now */
    /* Calls that the store answered, and the sum of their times; their quotient is the mean. */
    int64_t store_answers;
    int64_t store_us;
} takt_stats;

TAKT_EXPORT void takt_get_stats(const takt_client *client, takt_stats *stats);

/*
 * What a limit in `mode: shadow` would have done to a client's work that started, over all keys.
 * acquires is the sum of the five fields below it.
 */
typedef struct takt_shadow {
    int64_t acquires;
    int64_t at_once;      /* would have started within a millisecond, or two one-way trips */
    int64_t waited;       /* would have waited longer, see p50_us to max_us */
    int64_t refused;      /* would have failed */
    int64_t waiting;      /* would still be waiting */
    int64_t unmeasured;   /* unknown: too many at a time, or no memory */
    int64_t refused_late; /* of those refused: with TAKT_E_DEADLINE */
    int64_t refused_full; /* of those refused: with TAKT_E_FULL; others: TAKT_E_COST, the store */
    int64_t tries;        /* answered takt_try_acquire; not among acquires */
    /* Of these, would have failed with TAKT_E_NO_SLOT or the store's error. */
    int64_t tries_refused;
    /* Waits of those that waited, at most 2 % off; 0: none has. */
    int64_t p50_us, p99_us;
    int64_t max_us;
} takt_shadow;

/* 0, or TAKT_E_NO_LIMIT.  All fields are 0 for an enforced limit. */
TAKT_EXPORT int takt_get_shadow(const takt_client *client, const char *limit, takt_shadow *shadow);

/*
 * Closes a client.  Every waiter and every try gets its callback with TAKT_E_CANCELED, also one
 * whose slot was due; other calls under way are answered.  What granted permits hold is given back
 * at once, and takt_is_held is 0: close when the work is done.  Then `callback` (may be NULL)
 * comes. After it the client is gone, and none of its permits may be passed to this library.  Safe
 * twice before that; the first callback counts.
 */
typedef void (*takt_close_cb)(void *data);
TAKT_EXPORT void takt_close(takt_client *client, takt_close_cb callback, void *data);

/* The version of the library, "MAJOR.MINOR.PATCH". */
TAKT_EXPORT const char *takt_version(void);

#ifdef __cplusplus
}
#endif
#endif
