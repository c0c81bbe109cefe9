/*
 * sync.h: a thread lets the loop's thread do something, and waits for the answer.
 */
#ifndef TAKT_CLIENT_SYNC_H
#define TAKT_CLIENT_SYNC_H

#include <takt/sync.h>

#include <limits.h>
#include <uv.h>

#include "base/list.h"

#define TAKT_SYNC_LATER INT_MAX

/* A question of a thread.  It stays on that thread's stack until it is answered. */
typedef struct takt_sync_post {
    takt_link link;
    /* Runs on the loop's thread.  Returns the answer, or TAKT_SYNC_LATER if takt_sync_answer will
     * bring it. */
    int (*run)(takt_client *client, struct takt_sync_post *post);
    int status;
    uv_sem_t answered;
} takt_sync_post;

/* Runs post->run on the loop's thread, waits for its answer and returns it.  A code: run was not
 * called. */
int takt_sync_ask(takt_sync *sync, takt_sync_post *post);

/* Called on the loop's thread when the answer to a post has come. */
void takt_sync_answer(takt_sync_post *post, int status);

#endif
