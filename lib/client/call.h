/*
 * call.h: calls to the ledger of one limit and key.  Here is what all of them share, from the
 * client's function to its callback.  Two kinds need more than one question and its answer: try.c
 * and settle.c have them.
 */
#ifndef TAKT_CLIENT_CALL_H
#define TAKT_CLIENT_CALL_H

#include "client/acquire.h"
#include "client/client.h"

/* Calls that are one question and its answer. */
typedef enum takt_call_kind {
    TAKT_CALL_PEEK,
    TAKT_CALL_WATCH,
    TAKT_CALL_BLOCK,
    TAKT_CALL_PENALIZE,
    TAKT_CALL_LOWER,
    TAKT_CALL_UNBLOCK,
    TAKT_CALL_RESET
} takt_call_kind;

/* A try under way: try.c. */
typedef struct takt_trying {
    takt_permit *permit; /* gets what the ledgers give */
    takt_path path;      /* the queues of its limits: each of them is one call */
    int at;              /* the one whose ledgers are asked */
    bool blind;          /* no ledger has answered, and nothing is refused */
    /* Whether limits that enforce have granted it, and their standing then. */
    bool given;
    takt_standing granted;
    takt_store_inner inner[TAKT_INNER_MAX];
    /* Of limits with permits: what the worker holds, and the answer to that. */
    takt_claim claim;
    takt_award award;
    takt_link held; /* in the list of tries that a claim under way holds up */
} takt_trying;

/* A takt_call under way, or one without an owner.  Its memory is reused. */
typedef struct takt_calling {
    takt_store_call call; /* first */
    takt_client *client;
    takt_call *owner; /* NULL: no callback */
    bool detached;    /* the program gave no takt_call: it counts in client->calls.detached */
    char reason[TAKT_REASON_SIZE_MAX + 1];
    int64_t sent_us;
    struct takt_calling *next; /* in the list of spare ones */
    takt_trying trying;
    /* Last, because they are large and a new call leaves them as they are. */
    char tenant[TAKT_TENANT_SIZE_MAX + 1]; /* SETTLE */
    char key[TAKT_KEY_SIZE_MAX + 1];
} takt_calling;

/* Makes a call with all fields zero but its client, its key and tenant (not set) and how it ends.
 * It counts as under way until takt_call_finish.  NULL: no memory. */
takt_calling *takt_call_new(takt_client *client);

/* Checks a request and makes its call, which the owner keeps from now on; owner NULL: a detached
 * call.  `is_work`: it asks to start work, and trying.path is set; otherwise the call is aimed at
 * the request's own limit.  Returns 0 or a code. */
int takt_call_begin(takt_calling **calling, takt_client *client, takt_call *owner,
                    const takt_request *request, bool is_work, takt_call_cb callback);

/* Begins a call of that kind for its public function.  `number` is a duration; for LOWER it is what
 * is left; other kinds pass 0.  `text` is the reason of BLOCK and PENALIZE, and the unit of LOWER.
 * It may be NULL, and so may `call` together with `callback` if the kind changes a ledger. */
int takt_call_ask(takt_client *client, takt_call *call, takt_call_kind kind, const char *limit,
                  const char *key, int64_t number, const char *text, takt_call_cb callback);

/* Points the call at a ledger; the key is copied. */
void takt_call_aim(takt_calling *calling, const takt_limit *limit, const char *key);

/* Sends the call to the store. */
void takt_call_send(takt_calling *calling);

/* Notes from the call's status whether the store is reachable. */
void takt_call_note(takt_calling *calling);

/* Puts the limit's name of its unit into the standing of a call that was answered. */
void takt_call_name_units(takt_calling *calling);

/* Ends the call: its owner's callback gets the status.  `standing` may be the call's own; NULL: no
 * ledger has answered. */
void takt_call_finish(takt_calling *calling, const takt_standing *standing);

#endif
