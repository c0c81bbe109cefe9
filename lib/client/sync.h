/*
 * sync.h: a thread has the loop's thread do something, and waits for the answer.
 */
#ifndef TAKT_CLIENT_SYNC_H
#define TAKT_CLIENT_SYNC_H

#include <takt/sync.h>

#include <limits.h>
#include <uv.h>

#include "base/list.h"

#define TAKT_SYNC_LATER INT_MAX

/* What a thread asks for; on its stack until it is answered. */
typedef struct takt_sync_post {
    takt_link link;
    /* On the loop's thread: the answer, or TAKT_SYNC_LATER: takt_sync_answer brings it. */
    int (*run)(takt_client *client, struct takt_sync_post *post);
    int status;
    uv_sem_t answered;
} takt_sync_post;

/* Has post->run called and waits for its answer, which is returned; or a code: it was not called.
 */
int takt_sync_ask(takt_sync *sync, takt_sync_post *post);

/* On the loop's thread: the answer to a post has come. */
void takt_sync_answer(takt_sync_post *post, int status);

#endif
