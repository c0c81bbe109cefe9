/*
 * takt/takt.h: acquire and release for workers that share one beat.
 *
 * A worker asks for a permit before each unit of work.  The permit is the caller's memory (put it
 * inside your job); the callback comes when the slot is due, on the loop's thread, never inside the
 * call that asked.
 *
 *     static void start(takt_permit *permit, int status)
 *     {
 *         if (status == 0) do_work(permit->data);
 *         takt_release(permit);
 *     }
 *     takt_request request = TAKT_REQUEST("sendgrid");
 *     takt_acquire(client, &job->permit, &request, start);
 *
 * Units: times and durations are int64 microseconds; instants (`_at_us`) are by the store's clock,
 * since the Unix epoch.  Threads: a client belongs to its loop's thread; every function here is
 * called on that thread. For threads that block instead, see takt/sync.h.
 */
#ifndef TAKT_H
#define TAKT_H

#include <stdint.h>

#include <takt/error.h>
#include <takt/links.h>
#include <takt/policy.h>
#include <takt/store.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* libuv's loop: this header does not need <uv.h> */

typedef struct takt_client takt_client;
typedef struct takt_permit takt_permit;
typedef struct takt_call takt_call;

#define TAKT_COST_MAX         1000000
#define TAKT_WATCH_MAX_US     600000000  /* what takt_watch can ask for: 10 minutes */
#define TAKT_REASON_SIZE_MAX  120        /* bytes of why a limit is blocked */
#define TAKT_SETTLED_MAX      1000000000 /* what a unit of work can have cost */
#define TAKT_PRIORITY_MAX     9          /* least urgent; 0 is the most urgent */
#define TAKT_PRIORITY_DEFAULT 5          /* where neither the request nor the policy says one */
#define TAKT_PRIORITY_POLICY  (-1)       /* the limit's `priority` */

/* What is asked for.  Read during the call only.  Set it up with TAKT_REQUEST: a cost of 0 is
 * refused. */
typedef struct takt_request {
    const char *limit; /* a name of the policy */
    const char
        *key;     /* which subject of the limit: an account, an IP; NULL is the limit as a whole */
    int32_t cost; /* tokens, 1 to TAKT_COST_MAX */
    int32_t priority; /* 0 (most urgent) to 9, or TAKT_PRIORITY_POLICY */
    int64_t
        max_wait_us; /* give up after that long with TAKT_E_DEADLINE; 0: wait as long as it takes */
    const char *within_keys[TAKT_LEVELS_MAX - 1]; /* with `within`: the subject of each limit
                         around, the next one first; NULL: that limit as a whole.  More than there
                         are limits around are refused. */
} takt_request;

#ifdef __cplusplus
#define TAKT_REQUEST(name)                                                                         \
    takt_request                                                                                   \
    {                                                                                              \
        (name), nullptr, 1, TAKT_PRIORITY_POLICY, 0,                                               \
        {                                                                                          \
        }                                                                                          \
    }
#else
#define TAKT_REQUEST(name) ((takt_request){(name), 0, 1, TAKT_PRIORITY_POLICY, 0, {0}})
#endif

/*
 * Where a limit stands, as one look at its ledger: what HTTP calls X-RateLimit-*.
 */
typedef struct takt_standing {
    int64_t now_us;    /* the store's clock at that look */
    int64_t limit;     /* tokens that can be taken at one instant at most, least over the rules */
    int64_t remaining; /* whole tokens that could be taken now */
    int64_t retry_after_us; /* until the cost asked for would be given if nobody else came; 0: now.
                               A try that lacks a permit is told one lookahead at least, for one may
                               come free at any time; a look tells of the rules alone */
    int64_t reset_after_us; /* until every rule is as from rest */
    int64_t blocked_until_us;              /* no slot before that instant; 0: not blocked */
    char reason[TAKT_REASON_SIZE_MAX + 1]; /* why it is blocked, as whoever did said; else "" */
    int64_t rate_percent;     /* after penalties: what is left of the first rule's rate for now,
                                 where the limit has `adapt`; else 100 */
    int64_t waiting;          /* waiters in the whole fleet, as their workers last said */
    int64_t workers;          /* workers that wait */
    int64_t concurrency;      /* permits that can be held at once; 0: no bound */
    int64_t held;             /* permits that are held */
    int64_t holders;          /* workers that hold some */
    int64_t watched_since_us; /* since that instant tokens are counted (takt_watch); 0: they are
                                 not */
    int64_t taken; /* tokens of the slots that were given since, and what work has cost more
                      (takt_settle), less what it has cost less */
} takt_standing;

/*
 * status is 0 (the slot is due: start the work, then takt_release) or a code of takt/error.h
 * (nothing was taken); TAKT_E_STORE... only where the limit's on_store_failure is `closed`. Exactly
 * one call for each accepted takt_acquire.  In it, `permit` may be released, freed or used for
 * another acquire, and the client may be closed.
 */
typedef void (*takt_acquire_cb)(takt_permit *permit, int status);

/* A permit of one limit with concurrency; private. */
typedef struct takt_hold {
    struct takt_queue *queue; /* NULL: lost */
    int64_t fence;
} takt_hold;

/* What waits in a permit's place for a limit in shadow; private. */
typedef struct takt_shade {
    struct takt_ghost *ghost; /* it may be another's by now: */
    int64_t number;           /* then its number is another one */
} takt_shade;

#define TAKT_SHADES_MAX (TAKT_LEVELS_MAX / 2)

/*
 * The caller's memory from takt_acquire until takt_release or the callback with an error.  Set
 * `data` as you like; a permit needs no other initialisation than zeros before its first use.
 */
struct takt_permit {
    /* public */
    void *data;
    /* read-only, valid in and after the callback */
    int64_t slot_at_us; /* the slot, by the store's clock; 0: granted by on_store_failure
                           `open`, and the store was never heard of, or by limits in shadow alone;
                           or not granted */
    int64_t fence;      /* with concurrency: its number, which only grows per limit and key (of the
                           innermost limit that has it); 0: none has.  It also grows over a loss of
                           the store's data, unless numbers were ahead of its clock then: up to a
                           minute where there are more than 1000 awards/s (docs/policy.md) */
    int64_t retry_after_us; /* with TAKT_E_DEADLINE, TAKT_E_FULL and TAKT_E_NO_SLOT: when it would
                               be worth asking again; where a permit was lacking, nobody knows when
                               one comes free: one lookahead.  0: now, or the store was never heard
                               of */
    /* private */
    takt_link line;     /* among the waiters of its priority */
    takt_node deadline; /* among those that may give up */
    struct takt_queue *queue;
    takt_client *client;
    takt_acquire_cb callback;
    int64_t deadline_at_us;
    int32_t cost;
    int8_t priority;
    uint8_t state;
    int16_t status;
    uint8_t hold_count;
    uint8_t outer_count; /* limits that are still to be passed */
    uint8_t shadow;
    uint8_t shade_count;
    uint8_t uncharged;                /* the last limit that granted it did so without the store */
    takt_hold holds[TAKT_LEVELS_MAX]; /* the innermost first */
    struct takt_queue *outer[TAKT_LEVELS_MAX - 1]; /* of those limits, the next one last */
    takt_shade shades[TAKT_SHADES_MAX];            /* the innermost first */
};

/* What happened that no callback tells.  The strings live during the call. */
typedef enum takt_event_type {
    TAKT_EVENT_STORE_LOST = 1, /* claims fail; told once until it is back */
    TAKT_EVENT_STORE_BACK,     /* claims are answered again */
    TAKT_EVENT_FALLBACK,       /* work for a limit goes on, or fails, without the store, as its
                                  on_store_failure says; told once for each limit in each loss */
    TAKT_EVENT_STORE_REPLACED, /* a damaged store file was set aside and begun anew: state was lost
                                */
    TAKT_EVENT_LEDGER_DAMAGED, /* a ledger that could not be read was begun anew, blocked for a
                                  period */
    TAKT_EVENT_PERMIT_LOST,    /* a granted permit is somebody else's by now, or will be: this
                                  process was held up for longer than a lease */
    TAKT_EVENT_POLICY,         /* a newer stored policy holds: the text says which version, whose,
                                  and what it changes */
    TAKT_EVENT_POLICY_REFUSED  /* the stored policy cannot be used: the one before holds on */
} takt_event_type;

typedef struct takt_event {
    takt_event_type type;
    int code;            /* of takt/error.h, why */
    const char *text;    /* one sentence for a log */
    const char *limit;   /* FALLBACK: its name; NULL */
    takt_permit *permit; /* PERMIT_LOST: it is still to be released; NULL */
} takt_event;

typedef struct takt_options {
    const char *store; /* a store's URL; NULL: $TAKT_STORE, else the policy's, else "file:" */
    const char
        *name_space; /* keeps fleets apart in one store; NULL: the policy's, else "default" */
    int64_t store_timeout_us; /* how long one call to the store may take; 0: one second.  A time in
                                 which this program did not run counts for a quarter at most */
    /* May be NULL.  It may call whatever callbacks may, takt_reload and takt_close too. */
    void (*on_event)(takt_client *client, const takt_event *event, void *data);
    void *data;
} takt_options;

/*
 * Opens a client on a loop, and its store.  `options` may be NULL.  Opening a store reads and may
 * create a file, so it belongs at a program's start.  On failure nothing is left behind and `error`
 * (may be NULL) says why.  The policy must outlive the client.
 *
 * A policy that follows (`policy: store`) is needed during the call alone.  Opening it reads the
 * stored one, for which it waits store_timeout_us at most (TAKT_E_POLICY: there is none, or it
 * cannot be used).  Afterwards the client looks for a newer one every two seconds while its loop
 * runs, which does not keep the loop alive, and goes over to it as takt_reload does;
 * TAKT_EVENT_POLICY tells.
 */
TAKT_EXPORT int takt_open(takt_client **client, struct uv_loop_s *loop, const takt_policy *policy,
                          const takt_options *options, takt_error *error);

/*
 * From now on the client goes by that policy, which must outlive it, as the ones before must; it
 * stops to follow a stored one.  Who waits for a limit that both have goes on under the new
 * numbers, and so do permits; TAKT_E_COST comes to those whose cost they can never give.  Who waits
 * for a limit that is gone is served under the old numbers, and new acquires are refused with
 * TAKT_E_NO_LIMIT.  Who waits goes on through the limits that were around when it asked.  Store and
 * namespace stay what they were.  In a ledger the numbers of the higher `revision` hold, whichever
 * policy is the last to be loaded.
 *
 * 0, TAKT_E_POLICY, TAKT_E_INVALID (a policy that follows: open a client with it), TAKT_E_CANCELED
 * (the client is closing) or TAKT_E_NOMEM; then all is as before.
 */
TAKT_EXPORT int takt_reload(takt_client *client, const takt_policy *policy, takt_error *error);

/* The policy that the client goes by: the one that it was given, or the stored one that it follows,
 * which is valid until TAKT_EVENT_POLICY tells of the next. */
TAKT_EXPORT const takt_policy *takt_get_policy(const takt_client *client);

/*
 * Says why takt_acquire would refuse a request: 0, or the code and, in `error`, the words (which
 * rule, which cost, the largest possible).
 */
TAKT_EXPORT int takt_check_request(const takt_policy *policy, const takt_request *request,
                                   takt_error *error);

/*
 * Waits for a permit.  0: accepted, the callback will come.  Otherwise nothing was begun and no
 * callback comes: TAKT_E_INVALID, TAKT_E_NO_LIMIT, TAKT_E_COST, TAKT_E_BUSY (the permit is in use),
 * TAKT_E_CANCELED (the client is closing), TAKT_E_NOMEM.
 */
TAKT_EXPORT int takt_acquire(takt_client *client, takt_permit *permit, const takt_request *request,
                             takt_acquire_cb callback);

/*
 * Gives back a permit when its work is done, or was not begun after all.  Safe in any state, also
 * twice: a waiter is cancelled silently (no callback comes any more), as takt_cancel has it.
 */
TAKT_EXPORT void takt_release(takt_permit *permit);

/*
 * Whether a granted permit's holder may go on: 1 until it is released, or until its lease is over
 * because this process was held up (a callback that does not return, SIGSTOP, a laptop's lid).
 * Reads the clock, so it tells before the event does.  Without concurrency there is no lease: 1.
 */
TAKT_EXPORT int takt_is_held(const takt_permit *permit);

/*
 * Gives up waiting: the callback comes, later, with TAKT_E_CANCELED, and no more is asked for.
 * TAKT_E_INVALID when the permit does not wait (any more).
 *
 * Slots are awarded up to a lookahead before they are due.  One that was awarded for it by then
 * goes to the next waiter of this client; where nobody waits it is handed back by one call to the
 * store, as takt_settle with 0 has it: the limit is charged for no more than what others can have
 * been told meanwhile.  (So it is after takt_release, a deadline, and takt_close.)  Slots of inner
 * limits that were due are used.
 */
TAKT_EXPORT int takt_cancel(takt_permit *permit);

/*
 * Calls that look at a ledger or steer it.  The takt_call is the caller's memory until its
 * callback, which comes exactly once, never inside the call.  `standing` is how the ledger stands
 * after it, valid during the callback, NULL where the store failed (status says how).  Returned
 * codes are those of takt_acquire.  A takt_call is zeros before its first use.
 */
typedef void (*takt_call_cb)(takt_call *call, int status, const takt_standing *standing);

struct takt_call {
    void *data; /* public: yours */
    /* private */
    takt_call_cb callback;
    struct takt_errand *errand;
};

/* Now or never: status 0 (the cost was taken: `permit` is granted, to be released) or
 * TAKT_E_NO_SLOT (nothing was; see standing->retry_after_us). Does not overtake those who wait.
 * request->priority and max_wait_us play no part.  Until the callback `permit` is busy, and
 * takt_release does nothing to it.  With concurrency the tries of a client for one limit and key go
 * one after the other, since each states what is held: n at a time take n ways to the store and
 * back.  (takt_acquire with a short max_wait_us asks for all of them at once.)  With `within`, all
 * limits are looked at before any is taken from; should another worker take the outer one's last
 * token in between, what was taken from the inner one lapses.  `standing` is then that of the limit
 * that refuses, or, where all have given, of the one with the least remaining (whose mode is not
 * shadow, if there is one).  Where the store fails, each limit's on_store_failure decides: with
 * `open` and `share` the status is as above, and `standing` tells limit, now_us and retry_after_us.
 */
TAKT_EXPORT int takt_try_acquire(takt_client *client, takt_call *call, takt_permit *permit,
                                 const takt_request *request, takt_call_cb callback);

/*
 * The real cost of a granted permit's work, where it is known only afterwards (the tokens of a
 * language model, a mail's recipients).  `request` is what the permit was acquired with (its limit
 * and keys are used).  More than was asked for is taken now, and paid for before the next slots: by
 * gcra and buckets as far as 10 s ahead, by windows and logs as far as there is room.  Less is
 * given back, as far as nobody can have been served in its place: by gcra and buckets
 * all but what the rate has passed since the slot, by windows what is of their window, by logs only
 * their latest entry; with `within`, the outermost limit alone gives back.
 * actual_cost 0: the work was not begun.  Of a permit that on_store_failure has granted (`open`,
 * `share`) no ledger knows: what it cost more than was asked for is taken, nothing is given back.
 *
 * Asked once, before or after takt_release; nothing comes back.  Where the store fails meanwhile
 * the estimate stands.  0, or TAKT_E_INVALID, TAKT_E_NO_LIMIT, TAKT_E_NOMEM, TAKT_E_CANCELED.
 */
TAKT_EXPORT int takt_settle(takt_permit *permit, const takt_request *request, int64_t actual_cost);

/* Looks only.  retry_after_us is for a cost of 1.  What on_store_failure does is not seen here:
 * where the store fails, so does this. */
TAKT_EXPORT int takt_peek(takt_client *client, takt_call *call, const char *limit, const char *key,
                          takt_call_cb callback);

/*
 * Looks, and will look again within `for_us` (1 to TAKT_WATCH_MAX_US, else TAKT_E_INVALID): until
 * then, in the whole fleet, the tokens that are taken are counted in standing->taken.  Two looks
 * with the same watched_since_us tell the rate between them: the difference of `taken` over that of
 * now_us.  Where watched_since_us has changed nobody looked for a while, and the count began anew.
 * Any number of clients may watch a ledger: they share one count, which lasts until the last of
 * them asked for.  Slots are given up to a lookahead before they are due.  Of a limit without rules
 * (`concurrency` alone) what a worker hands on within itself is not seen, and not counted.
 *
 * It costs: each look writes the ledger, as a claim does, and keeps it until it ends; meanwhile
 * claims and tries write a number more, and over Redis do not take the scripts' quickest way.  A
 * ledger that nobody watches costs nothing.
 */
TAKT_EXPORT int takt_watch(takt_client *client, takt_call *call, const char *limit, const char *key,
                           int64_t for_us, takt_call_cb callback);

/*
 * No slot for `for_us` from now, in the whole fleet; only ever extends.  Workers that have slots in
 * hand hold them back as soon as they hear of it: at once, mostly; at the latest at their next
 * claim, and no slot lies further ahead than the lookahead.
 *
 * `reason` (NULL: none) is for those who look: up to TAKT_REASON_SIZE_MAX bytes of UTF-8 in one
 * line. It stays as long as the block, or until one that lasts longer brings another.
 * TAKT_E_INVALID: it cannot be one; takt_check_reason says why.
 */
TAKT_EXPORT int takt_block(takt_client *client, takt_call *call, const char *limit, const char *key,
                           int64_t for_us, const char *reason, takt_call_cb callback);

/*
 * A vendor has refused work for going too fast (HTTP's 429): a block for as long as it said
 * (Retry-After; 0: it said nothing), and where the limit has `adapt`, a lower rate in the whole
 * fleet, which comes back with time.  Report it wherever it is heard: several reports of one event,
 * within a second or while its block lasts, extend the block and lower the rate once.
 */
TAKT_EXPORT int takt_penalize(takt_client *client, takt_call *call, const char *limit,
                              const char *key, int64_t for_us, const char *reason,
                              takt_call_cb callback);

/*
 * No more than `remaining` tokens are left at this moment: what is more is taken, in one step, from
 * all of the limit's rules.  For the word of a vendor on what is left of its quota.  Never adds
 * any: where fewer are left, nothing happens, so that several workers that have heard the same say
 * it as often as they like.  The limits around it are left alone.
 */
TAKT_EXPORT int takt_lower(takt_client *client, takt_call *call, const char *limit, const char *key,
                           int64_t remaining, takt_call_cb callback);

/* Says why takt_block and takt_penalize would refuse a reason: 0, or TAKT_E_INVALID and the words.
 */
TAKT_EXPORT int takt_check_reason(const char *reason, takt_error *error);

/* Ends a block.  Pacing goes on from now, without a burst, at the rate that penalties have left. */
TAKT_EXPORT int takt_unblock(takt_client *client, takt_call *call, const char *limit,
                             const char *key, takt_call_cb callback);

/* Forgets the rules' state and penalties, as if nothing had ever been taken.  Who waits keeps their
 * place, and a block stays. */
TAKT_EXPORT int takt_reset(takt_client *client, takt_call *call, const char *limit, const char *key,
                           takt_call_cb callback);

/* What a client has done since it was opened. */
typedef struct takt_stats {
    int64_t acquires;      /* accepted */
    int64_t grants;        /* callbacks with status 0 */
    int64_t store_calls;   /* claims and other calls sent to the store */
    int64_t waiting;       /* who wait now */
    int64_t store_answers; /* of those calls, that the store answered; others failed or are under
                              way */
    int64_t store_us;      /* from sending them to their answers, all together: by store_answers it
                              is how long a call takes */
} takt_stats;

TAKT_EXPORT void takt_get_stats(const takt_client *client, takt_stats *stats);

/*
 * What a limit in `mode: shadow` would have done to a client's acquires, had it been enforced, over
 * all keys.  acquires is the sum of the five below it.
 */
typedef struct takt_shadow {
    int64_t acquires;
    int64_t at_once;       /* would have started within a millisecond, or two ways to the store */
    int64_t waited;        /* would have waited longer, and how long p50_us to most_us tell */
    int64_t refused;       /* would have failed */
    int64_t waiting;       /* would be waiting still */
    int64_t unmeasured;    /* nobody knows: there were too many at a time, or there was no memory */
    int64_t refused_late;  /* of those refused: with TAKT_E_DEADLINE */
    int64_t refused_full;  /* with TAKT_E_FULL; others: TAKT_E_COST, or the store's error */
    int64_t tries;         /* by takt_try_acquire, answered; not among acquires */
    int64_t tries_refused; /* of them, would have been told TAKT_E_NO_SLOT or the store's error */
    int64_t p50_us, p99_us; /* waits of those that waited, at most 2 % off; 0: none has */
    int64_t most_us;
} takt_shadow;

/* 0, or TAKT_E_NO_LIMIT.  All is 0 for a limit that is enforced. */
TAKT_EXPORT int takt_get_shadow(const takt_client *client, const char *limit, takt_shadow *shadow);

/* Closes: every waiter gets its callback with TAKT_E_CANCELED, also one whose slot was due by then,
 * and so does a try; other calls under way are answered.  With concurrency, what granted permits
 * hold is given back at once (takt_is_held is 0 from then on), so close when the work is done. Then
 * `callback` comes (may be NULL), after which the client is gone and no permit of it may be passed
 * to this library.  Safe twice before that: the first callback counts. */
typedef void (*takt_close_cb)(void *data);
TAKT_EXPORT void takt_close(takt_client *client, takt_close_cb callback, void *data);

/* The version of the library, "MAJOR.MINOR.PATCH". */
TAKT_EXPORT const char *takt_version(void);

#ifdef __cplusplus
}
#endif
#endif
