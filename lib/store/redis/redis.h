/*
 * redis.h: the Redis store from the inside.
 *
 * redis.c opens and closes it and handles time-outs; call.c takes one call from its first EVALSHA
 * to its answer; listen.c handles hints about the ledgers of such calls.
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

/* The last command of a call: the script, or the hint to other workers. */
typedef enum takt_redis_step {
    TAKT_REDIS_RUN,
    TAKT_REDIS_SPUBLISH,
    TAKT_REDIS_PUBLISH
} takt_redis_step;

/* A call that the store is working on. */
typedef struct takt_redis_job {
    takt_redis_command command;
    takt_redis_store *store;
    takt_store_call *call;
    takt_link order; /* among all jobs, by due_ns */
    takt_link link;  /* in the list of jobs that wait for a connection, or of jobs for reuse */
    uint64_t due_ns; /* by the clock of timeout.h */
    int tries;
    int keys;  /* keys named, or to be named as the script has asked */
    bool sent; /* sent to the connection */
    takt_redis_step step;
} takt_redis_job;

struct takt_redis_store {
    takt_store store;
    uv_loop_t *loop;
    takt_redis_url url;
    takt_tls_trust *trust; /* NULL without TLS */
    char name_space[TAKT_NAME_SIZE_MAX + 1];
    pid_t process; /* the process of the connection: a child after fork has none */
    takt_redis_connection *connection;
    takt_hints *hints; /* NULL until the first claim was answered */
    takt_redis_load loads[TAKT_OPS];
    takt_script_call script_call;
    uint64_t worker; /* the worker that claims through this store */

    /* fires when the oldest job must be given up, or calls must fail; keeps the loop alive while
     * there are calls */
    uv_timer_t timer;
    takt_link jobs;    /* in the order of submission */
    takt_link waiting; /* jobs not sent to a connection yet */
    takt_link idle;    /* jobs for reuse */
    takt_link failed;  /* calls that fail on the loop's next turn */
    takt_timeout timeout;

    bool was_ready;                  /* the present connection was ready */
    bool down;                       /* the last attempt to connect failed */
    bool told;                       /* ... and a call has failed with the reason */
    int code;                        /* the reason, as a code, ... */
    char text[TAKT_ERROR_TEXT_SIZE]; /* ... and as a text */

    bool closing;
    int left;                         /* handles to close: the timer, the connection, the hints */
    void (*part_closed)(void *store); /* called when one of these is closed */
    takt_store_options options;
    void (*closed)(void *data);
    void *data;
};

/* Sends a waiting job on the connection, which is ready. */
void takt_redis_job_send(takt_redis_job *job);

/* Answers a job's call with that status; its outputs are filled. */
void takt_redis_job_finish(takt_redis_job *job, int status);

/* A ledger was claimed from, or the stored policy was read: listens to its hints from now on. */
void takt_redis_listen(takt_redis_store *store, const takt_store_call *call);

#define TAKT_REDIS_SIGN_SIZE 20

/* The text that hints of this store's worker carry, so that it does not follow its own; "" before
 * its first claim. */
void takt_redis_sign(const takt_redis_store *store, char text[TAKT_REDIS_SIGN_SIZE]);

/* A connection was made or lost: forgets which scripts the server has. */
void takt_redis_forget_scripts(takt_redis_store *store);

/* Sets why calls fail at present: "SERVER: text (WORD)". */
void takt_redis_set_trouble(takt_redis_store *store, const char *text, const char *word);

#endif
