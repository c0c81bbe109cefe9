/*
 * waker.h: what the clients of this host tell one another, for stores that they share.
 *
 * Each client that claims listens on a datagram socket whose name (abstract: it is in no file
 * system) is made of its worker's number.  A message names the limit and the key; to the workers
 * that an award names, it says that a permit is free; to all that listen, that the ledger was
 * blocked, penalized, unblocked or reset.  Who listens is told by /proc/net/unix, so nobody keeps a
 * list, and the dead are on none.
 *
 * A message is a hint only: it can be lost, or come for nothing (those of another store hear of a
 * ledger of that name, too), and whoever sends one can do no more than cause a claim.
 */
#ifndef TAKT_STORE_WAKER_H
#define TAKT_STORE_WAKER_H

#include <uv.h>

#include "store/store.h"

typedef struct takt_waker {
    uv_loop_t *loop;
    uv_poll_t poll;
    int socket;      /* -1: nothing was claimed yet */
    uint64_t worker; /* that it listens as */
    void (*on_wake)(void *data, const char *limit, const char *key); /* NULL: not wanted */
    void (*on_hint)(void *data, const char *limit, const char *key); /* the same */
    void *data;
    void (*closed)(void *data);
    void *closed_data;
} takt_waker;

void takt_waker_init(takt_waker *waker, uv_loop_t *loop, const takt_store_options *options);

/* A call was answered: wakes whom its award names, tells all of a block and its like, and listens
 * from the first claim on.  Never fails: what cannot be listened to or sent is not needed. */
void takt_waker_answered(takt_waker *waker, const takt_store_call *call);

/* closed() comes later, or now where nothing is open. */
void takt_waker_close(takt_waker *waker, void (*closed)(void *data), void *data);

#endif
