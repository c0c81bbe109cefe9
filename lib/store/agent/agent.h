/*
 * agent.h: the store "agent:" from the inside.
 *
 * agent.c opens and closes it, and decides when a call waits, fails or is given up.  claims.c
 * answers claims, and ask.c sends the other calls; limits.c states the limits that they name.
 * hear.c reads what the agent sends.  jobs.c brings calls back.  desk.c has what is known of one
 * ledger.
 */
#ifndef TAKT_STORE_AGENT_AGENT_H
#define TAKT_STORE_AGENT_AGENT_H

#include <sys/types.h>
#include <uv.h>

#include "base/timeout.h"
#include "redis/connection.h"
#include "store/agent/desk.h"

typedef struct takt_agent_store takt_agent_store;

/* A limit with numbers that this connection has stated to the agent. */
typedef struct takt_agent_limit {
    takt_entry entry; /* its key: the limit's name, a NUL, the numbers as a text */
    takt_numbers numbers;
    int64_t id;
    char key[];
} takt_agent_limit;

/* A call that the store has. */
typedef struct takt_agent_job {
    takt_store_call *call;
    takt_link order; /* among all jobs, by due_ns */
    takt_link link;  /* in `waiting` or `answered` */
    int64_t number;  /* of the question; 0: it is none */
    uint64_t due_ns; /* by the clock of timeout.h */
    bool sent;
} takt_agent_job;

/* The clocks, by the answer to OPEN and later reports. */
typedef struct takt_agent_clock {
    int64_t opened_us;       /* when OPEN was sent, by the local clock */
    int64_t offset_us;       /* local clock - the agent's, no more than it is */
    int64_t store_offset_us; /* local clock - the store's, no less than it is */
} takt_agent_clock;

/* Of jobs.c. */
typedef struct takt_agent_jobs {
    takt_link all;
    takt_link waiting;     /* for the connection */
    takt_link without_job; /* calls that fail for lack of memory */
    takt_link answered;    /* are answered on the loop's next turn */
    uv_idle_t turn;
    void (*turned)(takt_agent_store *store); /* calls have come back */
} takt_agent_jobs;

struct takt_agent_store {
    takt_store store;
    uv_loop_t *loop;
    takt_redis_url url;
    char name_space[TAKT_NAME_SIZE_MAX + 1];
    takt_store_options options;
    pid_t process; /* the process of the connection: a child after fork has none */
    takt_redis_connection *connection;
    int connections; /* the number of the present connection */
    enum { TAKT_AGENT_CONNECTING, TAKT_AGENT_READY, TAKT_AGENT_DOWN } state;
    bool heard; /* something came on the present connection */
    int code;   /* DOWN: why */
    char text[TAKT_ERROR_TEXT_SIZE];

    takt_agent_clock clock;
    takt_table desks;
    takt_table limits;  /* that this connection has stated: their ids are 1 to their number */
    int64_t numbers;    /* the last number of a question */
    int64_t seen_index; /* of the last slot or refusal that arrived */

    takt_agent_jobs jobs;
    uv_timer_t timer; /* when the oldest job is to be given up; keeps the loop alive while there
                         are any */
    takt_timeout timeout;
    bool closing;
    int left; /* handles to close */
    void (*closed)(void *data);
    void *data;
};

/* The local clock. */
static inline int64_t takt_agent_now(void)
{
    return (int64_t)(uv_hrtime() / 1000);
}

/* ---- send.c */

/* Sends words, of which number `at`, the key, has that size.  False: no memory. */
bool takt_agent_store_send(takt_agent_store *store, int count, const char *const *words, int at,
                           size_t size);

/* ---- limits.c */

#define TAKT_AGENT_IDS_SIZE (TAKT_LEVELS_MAX * 21)

/* The limit with those numbers, after they were stated to the agent; `last` (may be NULL) may be
 * it.  NULL: no memory. */
const takt_agent_limit *takt_agent_store_tell_limit(takt_agent_store *store,
                                                    const takt_agent_limit *last, const char *name,
                                                    const takt_numbers *numbers);

/* The call's limit and its inner limits, after they were stated to the agent; `limits` has the
 * last ones.  False: no memory. */
bool takt_agent_store_tell_limits(takt_agent_store *store, const takt_store_call *call,
                                  const takt_agent_limit *limits[TAKT_LEVELS_MAX]);

/* The limit with any of its numbers; NULL: none was stated. */
const takt_agent_limit *takt_agent_store_limit_named(const takt_agent_store *store,
                                                     const char *name);

/* The word ID of a statement. */
void takt_agent_store_write_ids(char ids[TAKT_AGENT_IDS_SIZE],
                                const takt_agent_limit *const *limits);

/* Another connection has stated no limits yet. */
void takt_agent_store_forget_limits(takt_agent_store *store);

/* ---- claims.c */

/* The desk of a claim's or a try's queue, made if necessary; NULL: no memory. */
takt_agent_desk *takt_agent_store_desk_of(takt_agent_store *store, const takt_store_call *call);

/* The client claims, and gets what the desk has. */
void takt_agent_store_wake(takt_agent_store *store, const takt_agent_desk *desk);

/* Answers a claim.  `unlisted` is true if the agent has not been told of its waiters. */
void takt_agent_store_award(takt_agent_store *store, takt_agent_desk *desk, takt_agent_job *job,
                            bool unlisted);

/* Answers a claim, or states its waiters. */
void takt_agent_store_claim(takt_agent_store *store, takt_agent_job *job);

/* States what is held, before a try with those limits.  False: no memory. */
bool takt_agent_store_hold(takt_agent_store *store, const takt_store_call *call,
                           const takt_agent_limit *const *limits);

/* The agent is gone: the clients of all desks claim again, so that they learn of it. */
void takt_agent_store_forget(takt_agent_store *store);

/* ---- ask.c */

/* Sends a job's call, or answers it if the agent need not be asked.  The store is ready. */
void takt_agent_store_ask(takt_agent_store *store, takt_agent_job *job);

/* ---- hear.c */

/* Handles what the agent sends.  True: it has answered OPEN. */
bool takt_agent_store_hear(takt_agent_store *store, const takt_reply *reply);

/* ---- jobs.c */

/* The call comes back on the loop's next turn; its outputs are filled. */
void takt_agent_store_answer(takt_agent_store *store, takt_agent_job *job, int status);

/* Asks for the turn on which calls come back. */
void takt_agent_store_turn(takt_agent_store *store);

/* The job that is under way for a claim of that desk, or with that number; NULL: none. */
takt_agent_job *takt_agent_store_job_of(const takt_agent_store *store, const takt_store_call *call,
                                        int64_t number);

#endif
