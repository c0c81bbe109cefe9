/*
 * call.h: calls to the ledger of one limit and key: what all of them have in common, from the
 * client's function to its callback.  try.c and settle.c have the two kinds that are more than one
 * question and its answer.
 */
#ifndef TAKT_CLIENT_CALL_H
#define TAKT_CLIENT_CALL_H

#include "client/client.h"
#include "client/request.h"

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

/* A try on its way: try.c. */
typedef struct takt_trying {
    takt_permit *permit; /* which gets what the ledgers give */
    int first;           /* the level that it takes from first */
    bool looking;        /* with `within`: only peeking yet */
    bool blind;          /* it has passed a limit in shadow though the store failed */
    /* Whether an enforced limit has given the cost; of those, the one that leaves least. */
    bool given;
    takt_standing tightest;
    /* Where there are permits: the queue that it states permits of, and its call; NULL: none. */
    takt_queue *queue;
    takt_claim claim;
    takt_award award;
    takt_link held; /* among those that a claim under way holds up */
} takt_trying;

/* A takt_call under way, or one that nobody waits for: its memory is used again and again. */
typedef struct takt_calling {
    takt_store_call call; /* first */
    takt_client *client;
    takt_call *owner; /* NULL: nobody is told */
    takt_levels levels;
    int level;                                         /* whose ledger is asked */
    char keys[TAKT_LEVELS_MAX][TAKT_KEY_SIZE_MAX + 1]; /* by level */
    char reason[TAKT_REASON_SIZE_MAX + 1];
    int64_t sent_us;
    struct takt_calling *next; /* among the spare ones */
    takt_trying trying;
} takt_calling;

/* A call with everything zero but its client and how it ends: it is counted as under way, and ends
 * with takt_call_finish.  NULL: no memory. */
takt_calling *takt_call_new(takt_client *client);

/* Checks a request and makes its call, which is the owner's from now on: 0 or a code. */
int takt_call_begin(takt_calling **calling, takt_client *client, takt_call *owner,
                    const takt_request *request, takt_call_cb callback);

/* Begins a call of that kind as its public function does: `number` is for how long, and of LOWER
 * how many tokens are left; others have 0.  `reason` may be NULL. */
int takt_call_ask(takt_client *client, takt_call *call, takt_call_kind kind, const char *limit,
                  const char *key, int64_t number, const char *reason, takt_call_cb callback);

/* Points the call at the ledger of one of its levels. */
void takt_call_aim(takt_calling *calling, int level);

/* Sends the call to the store. */
void takt_call_send(takt_calling *calling);

/* Notes whether the store is there, going by how the call ended. */
void takt_call_note(takt_calling *calling);

/* Ends the call, and calls its owner back with its status.  `standing`, which may be the call's, is
 * told where a ledger has answered; NULL: there is none. */
void takt_call_finish(takt_calling *calling, const takt_standing *standing);

#endif
