/*
 * waker.h: wakes the workers of other clients on this host, for stores that they share.
 *
 * Each client that waits for permits, or where others may drop its waiters, listens on a datagram
 * socket whose name (abstract: it is in no file system) is made of its worker's number.  A message
 * names the limit and the key, and is a hint only: it can be lost, or come for nothing, and whoever
 * sends one can do no more than cause a claim.
 */
#ifndef TAKT_STORE_WAKER_H
#define TAKT_STORE_WAKER_H

#include <uv.h>

#include "store/store.h"

typedef struct takt_waker {
    uv_loop_t *loop;
    uv_poll_t poll;
    int socket; /* -1: nothing was waited for yet */
    void (*on_wake)(void *data, const char *limit, const char *key); /* NULL: not wanted */
    void *data;
    void (*closed)(void *data);
    void *closed_data;
} takt_waker;

void takt_waker_init(takt_waker *waker, uv_loop_t *loop, const takt_store_options *options);

/* A call was answered: wakes whom its award names, and listens from now on where the limit has any
 * woken. Never fails: what cannot be listened to or sent is not needed. */
void takt_waker_answered(takt_waker *waker, const takt_store_call *call);

/* closed() comes later, or now where nothing is open. */
void takt_waker_close(takt_waker *waker, void (*closed)(void *data), void *data);

#endif
