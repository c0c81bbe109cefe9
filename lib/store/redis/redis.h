/*
 * redis.h: the Redis store as its own files see it.
 *
 * redis.c opens and closes it and knows about time; call.c takes one call from its first EVALSHA to
 * its answer; listen.c hears what happens to the ledgers of such calls.
 */
#ifndef TAKT_STORE_REDIS_REDIS_H
#define TAKT_STORE_REDIS_REDIS_H

#include <sys/types.h>
#include <uv.h>

#include "base/timeout.h"
#include "redis/connection.h"
#include "redis/reply_error.h"
#include "store/redis/script.h"
#include "store/redis/script_call.h"
#include "store/redis/subscribe.h"
#include "store/store.h"

typedef struct takt_redis_store takt_redis_store;

/* SCRIPT LOAD of one script. */
typedef struct takt_redis_load {
    takt_redis_command command;
    takt_redis_store *store;
    bool under_way;
    int refused; /* 0, or why it cannot be loaded on this connection */
    const char *refused_text;
} takt_redis_load;

/* What a call has said last: run the script, or the hint that others are to look. */
typedef enum takt_redis_step {
    TAKT_REDIS_RUN,
    TAKT_REDIS_SPUBLISH,
    TAKT_REDIS_PUBLISH
} takt_redis_step;

/* A call that is with the store. */
typedef struct takt_redis_job {
    takt_redis_command command;
    takt_redis_store *store;
    takt_store_call *call;
    takt_link order; /* among all jobs, by due_ns */
    takt_link link;  /* among those that wait for a connection, or that are to be used again */
    uint64_t due_ns; /* as timeout.h counts */
    int tries;
    int keys;  /* that it has named, or is to, as the ledger has wished */
    bool sent; /* it is with the connection */
    takt_redis_step step;
} takt_redis_job;

struct takt_redis_store {
    takt_store store;
    uv_loop_t *loop;
    takt_redis_url url;
    takt_tls_trust *trust; /* NULL without TLS */
    char name_space[TAKT_NAME_SIZE_MAX + 1];
    pid_t process; /* in which the connection is: a child after fork has none */
    takt_redis_connection *connection;
    takt_hints *hints; /* NULL until the first claim was answered */
    takt_redis_load loads[TAKT_OPS];
    takt_script_call script_call;
    uint64_t worker; /* who claims through this store */

    uv_timer_t timer;  /* the oldest job is to be given up, or calls are to fail; keeps the loop
                          alive while there are calls */
    takt_link jobs;    /* in the order of submission */
    takt_link waiting; /* of them, those that were not said to a connection yet */
    takt_link idle;    /* jobs to be used again */
    takt_link failed;  /* calls that are told so on the loop's next turn */
    takt_timeout timeout;

    bool was_ready;                  /* the connection at hand was */
    bool down;                       /* the last attempt to connect failed */
    bool told;                       /* ... and a call has come back with it */
    int code;                        /* why, */
    char text[TAKT_ERROR_TEXT_SIZE]; /* in words */

    bool closing;
    int left;                         /* to be closed: the timer, the connection, the hints */
    void (*part_closed)(void *store); /* one of these is */
    takt_store_options options;
    void (*closed)(void *data);
    void *data;
};

/* Says a job that waits to the connection, which is ready. */
void takt_redis_job_send(takt_redis_job *job);

/* A job's call comes back with that status; its outputs are filled. */
void takt_redis_job_finish(takt_redis_job *job, int status);

/* A ledger was claimed from, or the stored policy looked at: from now on its hints are listened to.
 */
void takt_redis_listen(takt_redis_store *store, const takt_store_call *call);

/* A connection was made or lost: what is known of its scripts is not true any more. */
void takt_redis_forget_scripts(takt_redis_store *store);

/* Why calls fail at present: "SERVER: text (WORD)". */
void takt_redis_set_trouble(takt_redis_store *store, const char *text, const char *word);

#endif
