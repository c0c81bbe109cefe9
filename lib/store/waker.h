/*
 * waker.h: messages between the clients of this host, for stores that they share.
 *
 * Each client that claims listens on a datagram socket.  Its name (abstract, so in no file system)
 * is made of its worker's number.  A message names a limit and a key.  It tells the workers that an
 * award names that a permit is free, and all listeners that the ledger was blocked, penalized,
 * unblocked or reset.  /proc/net/unix lists the listeners, so no list is kept, and dead processes
 * are on none.
 *
 * A message is only a hint.  It can be lost, or be sent for nothing (clients of another store with
 * a ledger of that name receive it too).  A forged message can only cause a claim.
 */
#ifndef TAKT_STORE_WAKER_H
#define TAKT_STORE_WAKER_H

#include <uv.h>

#include "store/store.h"

typedef struct takt_waker {
    uv_loop_t *loop;
    uv_poll_t poll;
    int socket;      /* -1: no claim yet */
    uint64_t worker; /* the worker that it listens for */
    void (*on_wake)(void *data, const char *limit, const char *key); /* NULL: not wanted */
    void (*on_hint)(void *data, const char *limit, const char *key); /* the same */
    void *data;
    void (*closed)(void *data);
    void *closed_data;
} takt_waker;

void takt_waker_init(takt_waker *waker, uv_loop_t *loop, const takt_store_options *options);

/* After a call was answered: wakes the workers that its award names, tells all listeners about a
 * block and similar calls, and listens from the first claim on.  Errors are ignored: messages are
 * not required. */
void takt_waker_answered(takt_waker *waker, const takt_store_call *call);

/* closed() comes later, or at once if nothing is open. */
void takt_waker_close(takt_waker *waker, void (*closed)(void *data), void *data);

#endif
