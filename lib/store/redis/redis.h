/*
 * redis.h: the Redis store from the inside.
 *
 * A call becomes a job.  redis.c takes the call in (submit), handles time-outs, and opens and
 * closes the store; call.c takes one call from its first EVALSHA to its answer, batch.c several
 * claims of nested work.  script_call.c writes the command, award_reply.c reads the reply;
 * lua/PROTOCOL.md describes both.  durable.c waits for replicas; listen.c handles hints about the
 * ledgers of such calls; cluster.h knows the node (node.h) that has a ledger.
 *
 * In this folder "slot" alone is a hash slot of a cluster, except in the contents of claims and
 * awards.
 */
#ifndef TAKT_STORE_REDIS_REDIS_H
#define TAKT_STORE_REDIS_REDIS_H

#include <sys/types.h>
#include <uv.h>

#include "base/timeout.h"
#include "redis/reply_error.h"
#include "store/redis/batch.h"
#include "store/redis/cluster.h"
#include "store/redis/script.h"
#include "store/redis/script_call.h"
#include "store/store.h"

/* What a call waits for: the script, the replicas, or the hint to other workers. */
typedef enum takt_redis_step {
    TAKT_REDIS_RUN,
    TAKT_REDIS_ACKNOWLEDGE, /* of an award, by replicas: durable.h */
    TAKT_REDIS_SPUBLISH,
    TAKT_REDIS_PUBLISH
} takt_redis_step;

/* A call that the store is working on. */
struct takt_redis_job {
    takt_redis_command command;
    takt_redis_store *store;
    takt_store_call *call;
    takt_link order; /* among all jobs, by due_ns */
    /* Its link: in the list of jobs that wait for their node's connection, of those that pause or
     * wait for replicas, of those gathered for a batch, or of those for reuse. */
    takt_redis_pause pause;
    takt_link batched;         /* of the first job of a batch: all jobs of it, by pause.link */
    takt_redis_command asking; /* ASKING */
    takt_redis_node *node;     /* the one it is for; NULL: none has its slot */
    uint64_t due_ns;           /* by the clock of timeout.h */
    int tries;
    int keys;         /* named, or to be named as the script has asked: TAKT_KEYS_... */
    int redirections; /* since it was aimed */
    int code;         /* why it pauses */
    bool sent;        /* the server owes it an answer */
    bool ask;         /* the node has been named for this call only */
    int split; /* the keys that were on two nodes at its last call (TRYAGAIN); 0: they were not */
    takt_redis_step step;
};

struct takt_redis_store {
    takt_store store;
    uv_loop_t *loop;
    takt_redis_url url;
    takt_tls_trust *trust; /* NULL without TLS */
    char name_space[TAKT_NAME_SIZE_MAX + 1];
    pid_t process; /* the process of the connection: a child after fork has none */
    takt_redis_cluster cluster;
    takt_redis_batch batch;
    takt_script_call script_call;
    uint64_t worker; /* the worker that claims through this store */

    /* fires when the oldest job must be given up, or calls must fail; keeps the loop alive while
     * there are calls */
    uv_timer_t timer;
    takt_link jobs;   /* in the order of their time-outs */
    takt_link idle;   /* jobs for reuse */
    takt_link failed; /* calls that fail on the loop's next turn */
    takt_timeout timeout;

    char text[TAKT_ERROR_TEXT_SIZE]; /* why a call has failed last */

    bool closing;
    int left; /* to close: three timers, the nodes */
    takt_store_options options;
    void (*closed)(void *data);
    void *data;
};

/* Finds the node that has the job's ledger. */
void takt_redis_job_aim(takt_redis_job *job);

/* Sends a job to its node, or lets it wait: for the node's connection, or for the pause between
 * calls about a slot that is split (split.h). */
void takt_redis_job_begin(takt_redis_job *job);

/* The same, but it does not wait because of a split slot. */
void takt_redis_job_go(takt_redis_job *job);

/* Sends a job to its node, which is ready. */
void takt_redis_job_send(takt_redis_job *job);

/* Writes its command into the store's script_call; false: a name is too long. */
bool takt_redis_job_write(takt_redis_job *job);

/* The script's own answer for this job, or an error instead. */
void takt_redis_job_answer(takt_redis_job *job, const takt_reply *reply);

/* Loads a script of takt_scripts, unless that is under way. False: no memory. */
bool takt_redis_load_script(takt_redis_node *node, int script);

/* The script has run, and its answer counts: sends the hint about it, if any, and finishes. */
void takt_redis_job_conclude(takt_redis_job *job);

/* Answers a job's call with that status; its outputs are filled. */
void takt_redis_job_finish(takt_redis_job *job, int status);

/* A ledger was claimed from, or the stored policy was read: listens to its hints from now on, and
 * to those of inner limits. */
void takt_redis_listen(takt_redis_store *store, const takt_store_call *call);

/* Ledgers may have moved: listens at the nodes where they are now. */
void takt_redis_listen_elsewhere(takt_redis_store *store);

/* The node that has a ledger, as takt_redis_cluster_node_of. */
takt_redis_node *takt_redis_node_of(takt_redis_store *store, const char *limit, const char *key);

#define TAKT_REDIS_SIGN_SIZE 20

/* The text that hints of this store's worker carry, so that it does not follow its own; "" before
 * its first claim. */
void takt_redis_sign(const takt_redis_store *store, char text[TAKT_REDIS_SIGN_SIZE]);

/* Sets why calls fail at present: "SERVER: text (WORD)". Without a node the server is the URL's. */
void takt_redis_set_trouble(takt_redis_store *store, const takt_redis_node *node, const char *text,
                            const char *word);

#endif
