/*
 * store.h: what a store is to the client: it carries a call to a ledger and brings back the answer.
 *
 * Everything is asynchronous: submit() never blocks.  Every call comes back exactly once, by
 * done(), on the loop's thread, and never inside submit().  store.c has the interface of
 * takt/store.h (URLs).
 */
#ifndef TAKT_STORE_STORE_H
#define TAKT_STORE_STORE_H

#include <takt/store.h>
#include <takt/takt.h>

#include "base/list.h"
#include "core/ledger.h"
#include "core/limit.h"

typedef struct uv_loop_s uv_loop_t;

typedef struct takt_store takt_store;
typedef struct takt_store_call takt_store_call;

typedef enum takt_op {
    TAKT_OP_CLAIM,
    TAKT_OP_TRY,
    TAKT_OP_PEEK,
    TAKT_OP_BLOCK,
    TAKT_OP_PENALIZE,
    TAKT_OP_UNBLOCK,
    TAKT_OP_RESET,
    TAKT_OP_SETTLE,
    TAKT_OP_LOWER,
    TAKT_OP_POLICY, /* reads the policy that is stored for the namespace */
    TAKT_OP_APPLY   /* replaces it: policy_record.h */
} takt_op;

#define TAKT_OPS (TAKT_OP_APPLY + 1)

#define TAKT_CHANGE_SIZE 512 /* bytes of a change in the history of a policy, with its NUL */

/*
 * Input and output of a call about the stored policy.  A policy is identified by its version, which
 * grows, and by the time of its change: a store that was lost begins with the first version again.
 */
typedef struct takt_policy_exchange {
    /* in */
    /* The policy that the caller has; 0: none.  POLICY does not return it again, APPLY replaces
     * only it. */
    int64_t seen_version, seen_at_us;
    const char *text; /* APPLY: the new policy */
    size_t size;
    char change[TAKT_CHANGE_SIZE]; /* APPLY: its entry in the history */

    /* out */
    int64_t version, at_us; /* of the policy in the store; 0: there is none */
    /* POLICY, if it differs from the caller's: the history, an empty line, the text; the caller
     * frees it */
    char *kept;
    size_t kept_size;
} takt_policy_exchange;

/* An inner limit whose rules the slots of a claim or a try keep as well. */
typedef struct takt_store_inner {
    const takt_limit *limit;
    const takt_numbers *numbers;
    const char *key;
    takt_unit_map units; /* which of the claim's amounts its units are */
} takt_store_inner;

/*
 * One call, in the caller's memory.  From submit() to done() it belongs to the store, and `limit`,
 * `key`, `claim`, `reason` and `tenant` must not change.
 */
struct takt_store_call {
    /* in, set by the caller */
    takt_op op;
    const takt_limit *limit;     /* its name, and the caller's policy for it */
    const takt_numbers *numbers; /* the limit's, or learned from an award */
    const char *key;             /* "" is the limit as a whole */
    const takt_claim *claim;     /* CLAIM; TRY with permits: the worker and its held permits */
    /* CLAIM, TRY: the limits within this one, the innermost first (core/inner.h).  All ledgers
     * change in one step, or none. */
    const takt_store_inner *inner;
    int inner_count;
    /* CLAIM; TRY with permits or inner limits: the name of the client's queue that the call is for
     * (takt_registry_named of scheduler/registry.h), which stays until done().  For on_news. */
    const char *queue;
    size_t queue_size;
    int64_t cost;                /* TRY, SETTLE */
    int64_t more[TAKT_MORE_MAX]; /* likewise, of further units */
    int64_t for_us;              /* BLOCK, PENALIZE; PEEK: for how long to count, 0: not */
    const char *reason;          /* also for BLOCK, PENALIZE; checked; NULL: no reason given */
    /* SETTLE: the first slot of the work, how many requests of it were not begun, and its real
     * cost; LOWER: in `actual` and `requests`, the tokens and requests left at most; below 0: as
     * many as now */
    int64_t slot_us, requests, actual;
    int64_t actual_more[TAKT_MORE_MAX]; /* likewise, of further units */
    const char *tenant; /* SETTLE: for whom the work was; NULL: the limit has no tenants */
    int32_t tenant_weight;
    int priority; /* of the work, with a tenant */
    /* POLICY, APPLY: the caller's memory; takt_policy_call sets limit and key */
    takt_policy_exchange *exchange;
    void (*done)(takt_store_call *call);
    void *data; /* the caller's */

    /* out, valid in done() if the status says so */
    /* 0; TRY: 0 (taken) or TAKT_E_NO_SLOT; APPLY: 0 or TAKT_E_OVERTAKEN; or TAKT_E_STORE...,
     * TAKT_E_CANCELED, TAKT_E_NOMEM */
    int status;
    /* The server that has the ledger, as far as it is known: 0, or from 1 on the nodes of a
     * cluster. */
    int server;
    /* CLAIM, and TRY with `claim`: the caller's memory, filled when the call has run */
    takt_award *award;
    /* all but CLAIM, POLICY and APPLY: filled if status is 0 or TAKT_E_NO_SLOT */
    takt_standing standing;
    /* TRY: the limit of the standing, which refuses for the longest, or else has the least left:
     * the number of its ledger */
    int ledger_no;
    /* SETTLE with a tenant: what this adds to the tenant's tag (core/tenants.h) */
    int64_t tag_change;
    /* PEEK: the caller's memory for TAKT_TENANTS_MAX tenants of the standing; NULL: not wanted */
    takt_tenant_standing *tenants;

    takt_link link; /* the store's, while it has the call */
};

/* The limit that the standing of an answered call is of. */
static inline const takt_limit *takt_store_told_limit(const takt_store_call *call)
{
    return call->ledger_no > 0 ? call->inner[call->ledger_no - 1].limit : call->limit;
}

typedef struct takt_store_options {
    const char *name_space;
    int64_t timeout_us; /* a call that takes longer comes back with TAKT_E_STORE_TIMEOUT */
    int64_t unused_us;  /* a node of a cluster that is not used for so long is left; 0: a minute */
    void (*on_event)(
        void *data,
        const takt_event *event); /* STORE_REPLACED, LEDGER_DAMAGED; on the loop's thread */
    /* Another program has blocked, unblocked or reset a ledger that was claimed from recently:
     * claim now. If the limit is "", a policy was applied.  This is a hint: it may be wrong, and it
     * may be missing. It never comes inside submit().  NULL: not wanted. */
    void (*on_hint)(void *data, const char *limit, const char *key);
    /* A ledger's permit has become free and this worker is among the first in line, or some of its
     * waiters have to leave the line: claim now.  A hint too. */
    void (*on_wake)(void *data, const char *limit, const char *key);
    /* The answer to a claim for the queue of that name has changed: claim now. */
    void (*on_news)(void *data, const char *queue, size_t size);
    /* The connection to a server of the store was lost, with the reason, even if no call was under
     * way; or, with 0, it is back: claim now.  A hint too. */
    void (*on_connection)(void *data, int server, int code);
    /* That server has no ledger from now on: its loss needs no event. */
    void (*on_gone)(void *data, int server);
    void *data;
} takt_store_options;

/* A ledger that a listing has found: its text is valid during the call. */
typedef void (*takt_list_found)(void *data, const char *limit, const char *key, const char *text,
                                size_t size);

/* The row of functions behind a kind of store. */
typedef struct takt_store_kind {
    const char *scheme; /* "file:" */
    int (*check)(const char *rest,
                 takt_error *error); /* is the part after the scheme well written? */
    int (*open)(takt_store **store, uv_loop_t *loop, const char *rest,
                const takt_store_options *options, takt_error *error);
    void (*submit)(takt_store *store, takt_store_call *call);
    void (*close)(takt_store *store, void (*closed)(void *data), void *data);
    /* takt_store_list behind the scheme. */
    int (*list)(const char *scheme, const char *rest, const takt_store_options *options, size_t max,
                takt_list_found found, void *data, takt_error *error);
} takt_store_kind;

struct takt_store {
    const takt_store_kind *kind; /* first member of every store */
    /* Why calls fail at present, as a sentence for a log, valid in done(); NULL if the code says
     * everything. */
    const char *trouble;
    /* An agent claims for this program.  It keeps its places in line few, and counts the workers
     * (takt_scheduler.relayed). */
    bool relays;
};

extern const takt_store_kind takt_store_memory;
extern const takt_store_kind takt_store_file;
extern const takt_store_kind takt_store_agent;
extern const takt_store_kind takt_store_redis, takt_store_rediss, takt_store_unix;
extern const takt_store_kind takt_store_redis_sentinel, takt_store_rediss_sentinel;

/* The kind of store of the URL's scheme; NULL with a message in `error`. *rest is the part after
 * the scheme. */
const takt_store_kind *takt_store_kind_of(const char *url, const char **rest, takt_error *error);

/*
 * Opens the store that the URL names.  May create files; says in `error` what is wrong and what to
 * do about it. The options' strings are copied.  The loop is kept alive by calls under way, not by
 * the store as such.
 */
int takt_store_open(takt_store **store, uv_loop_t *loop, const char *url,
                    const takt_store_options *options, takt_error *error);

/* Lists the ledgers of a namespace in the store that the URL names, in no order, and looks at `max`
 * of them at most.  It blocks, and needs no store that is open.  Fails only if no server answers:
 * otherwise the result is 0, and `error` has the code and the text of one that does not. */
int takt_store_list(const char *url, const takt_store_options *options, size_t max,
                    takt_list_found found, void *data, takt_error *error);

/* Carries a call; see above. */
void takt_store_submit(takt_store *store, takt_store_call *call);

/* Calls under way come back with TAKT_E_CANCELED, then closed() comes, later, and the store is
 * gone.  Nothing may be submitted from now on. */
void takt_store_close(takt_store *store, void (*closed)(void *data), void *data);

/*
 * Runs one call on a ledger in memory that has adopted the call's limit, at the store's time
 * now_us. Fills the call's outputs and sets its status. The ledger's line must have room for
 * TAKT_PRIORITIES more.
 */
void takt_store_run(takt_ledger *ledger, int64_t now_us, takt_store_call *call);

/* Whether all others of the ledger are to hear at once of a call that was answered. */
bool takt_store_is_news(const takt_store_call *call);

#endif
