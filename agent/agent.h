/*
 * agent.h: the agent of a host: a server that speaks the protocol of Redis, and a client of the
 * store for all its connections.
 *
 * Calls go from the first of these files to the last.
 *
 *   agent.c       opens and ends all
 *   listen.c      sockets, and who may connect
 *   connection.c  bytes in and out; a connection's commands, one after the other
 *   command.c     which function does a command; the commands that every Redis client sends
 *   status.c      figures for people, probes and scrapers
 *   acquire.c     ACQUIRE, CANCEL, TRY: from a command to a waiter, and from a permit to an answer
 *   ledger.c      PEEK, BLOCK and the other calls to a ledger
 *   permit.c      permits by their tokens: RELEASE, SETTLE, DETACH
 *   lines.c       which waiter is next: connections take turns
 *   limits.c      the policy, and limits that programs define
 *   words.c       reads the words of a command; reply.c writes its answer
 *
 * Everything runs on one loop. Commands and permits only append to buffers; these are written once
 * in each turn of the loop.
 */
#ifndef TAKT_AGENT_AGENT_H
#define TAKT_AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include <takt/relay.h>
#include <uv.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/table.h"
#include "kit/notify.h"
#include "kit/policy_file.h"
#include "kit/signals.h"
#include "kit/status_server.h"
#include "redis/resp.h"

#define TAKT_AGENT_WAITERS_MAX 4000000 /* of all connections */
#define TAKT_AGENT_SETTLED_LATER                                                                   \
    1024 /* permits without a fencing number that a connection may still settle */
#define TAKT_AGENT_DETACHED_MAX 16384 /* permits without a fencing number and a connection */
#define TAKT_AGENT_TAG_MAX      64
#define TAKT_AGENT_WAITS_MAX    1024 /* waiters without a tag of a connection */
#define TAKT_AGENT_REPEATED_MAX                                                                    \
    96 /* bytes of an ACQUIRE that the next one may repeat before its answer */
#define TAKT_AGENT_TOKEN_SIZE 17 /* with its NUL */

typedef struct takt_agent takt_agent;
typedef struct takt_agent_connection takt_agent_connection;
typedef struct takt_agent_wish takt_agent_wish;
typedef struct takt_agent_seat takt_agent_seat;

/* Something that happens at a time of the loop's clock unless it is taken back. */
typedef struct takt_agent_alarm {
    takt_node node;
    uint64_t at_ms; /* 0: not set */
    void (*ring)(takt_agent *agent, struct takt_agent_alarm *alarm);
} takt_agent_alarm;

/* An ACQUIRE without its answer. */
typedef struct takt_agent_waiter {
    takt_link in_seat, in_wish, in_connection;
    takt_agent_seat *seat;
    takt_entry tagged; /* by connection and tag; size 0: no tag */
    takt_agent_alarm over;
    uint64_t since_ns;
    int64_t detach_ms;
    char *tag; /* the connection's number and the tag */
} takt_agent_waiter;

/* A permit: first it waits in the client for any waiter of its wish, then it has a token. */
typedef struct takt_agent_permit {
    takt_permit permit;
    takt_agent_wish *wish;
    takt_agent_seat *seat;             /* that asked for it, while it waits */
    takt_link in_wish, in_seat;        /* likewise */
    takt_link in_connection;           /* once it is granted; or among the detached ones */
    takt_entry named;                  /* by token */
    takt_agent_connection *connection; /* NULL: its holder has gone, and may come back */
    takt_agent_alarm end;              /* then */
    int64_t detach_ms;
    char token[TAKT_AGENT_TOKEN_SIZE];
} takt_agent_permit;

/* A call to the store that a connection waits for. */
typedef struct takt_agent_call {
    takt_call call;
    takt_agent *agent;
    takt_agent_connection *connection; /* NULL: it has ended */
    takt_agent_permit *permit;         /* of a TRY */
    uint64_t since_ns;
    bool tells_standing;
} takt_agent_call;

/* The bytes that a connection receives. */
typedef struct takt_agent_input {
    bool reads;
    takt_resp *resp; /* NULL: no part of a command is here */
    int refused;     /* the error of the stream, after the commands received before it */
    size_t behind;   /* bytes received while the connection waits */
    size_t read_now; /* bytes received in this turn of the loop */
} takt_agent_input;

struct takt_agent_connection {
    takt_agent *agent;
    takt_link link; /* in agent->connections.all */
    union {
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } socket;
    uint64_t number;
    char name[64];
    int protocol;  /* 2 or 3 */
    bool is_known; /* it needs no password, or has given it */
    bool closing;
    bool broken; /* an answer was lost for lack of memory: it ends */
    bool ends;   /* closes when all is written */
    takt_agent_input input;
    const takt_reply *next; /* a command that waits for the answers to `waits` or `call` */
    int waits;              /* waiters without a tag, all of the same ACQUIRE */
    takt_agent_call *call;  /* the next command waits for its answer */
    takt_resp_out out;
    uv_write_t writing;
    char *written;     /* bytes under way; NULL: none */
    takt_link to_do;   /* in agent->connections.to_do: there is something to write, or to read on */
    takt_relay *relay; /* if the program's store is the agent; else NULL */
    takt_link waiters, permits, settled_later;
    unsigned settled_later_count;
    size_t repeated; /* bytes of repeated_words; 0: nothing may repeat the ACQUIRE that waits */
    char repeated_words[TAKT_AGENT_REPEATED_MAX];
};

typedef struct takt_agent_options {
    const char *listen, *group, *policy, *store, *status, *metrics_file;
    int port; /* of the loopback; 0: none */
    const char *password;
    int64_t drain_us;
} takt_agent_options;

typedef struct takt_agent_figures {
    uint64_t connections, commands, acquires, grants, refusals, gone, returned, slow;
} takt_agent_figures;

/* A limit that programs brought along, as its DEFINE was written. */
typedef struct takt_agent_defined {
    char *name;
    char **words;
    int count;
} takt_agent_defined;

/* What lower files call in higher ones. */
typedef struct takt_agent_callbacks {
    void (*command)(takt_agent_connection *connection, const takt_reply *words, int count);
    /* whether a command need not wait for the answer of the waiters without a tag */
    bool (*joins)(const takt_agent_connection *connection, const takt_reply *words, int count);
    void (*left)(takt_agent_connection *connection); /* its waiters leave, its permits are free */
    void (*granted)(takt_agent_waiter *waiter, takt_agent_permit *permit);
    /* by a code of takt/error.h; after both the waiter is gone */
    void (*refused)(takt_agent_waiter *waiter, int code, int64_t retry_after_us);
    void (*on_event)(takt_client *client, const takt_event *event, void *data);
} takt_agent_callbacks;

/* A policy, the policies before it that may still be in use, and its client. */
typedef struct takt_agent_side {
    takt_policy *policy;
    takt_former_policies former;
    takt_client *client;
} takt_agent_side;

/* Of limits.c. */
typedef struct takt_agent_limits {
    takt_agent_side own;
    takt_agent_side brought; /* of `definitions`; NULL: there are none */
    takt_agent_defined *definitions;
    size_t definition_count;
    size_t copies;    /* limits in all policies that were made of `definitions` */
    unsigned changes; /* of any policy */
} takt_agent_limits;

/* Of listen.c. */
typedef struct takt_agent_listening {
    union {
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } sockets[8];
    bool is_unix[8];
    int count, open;
    char *path;             /* of a socket that was made here */
    takt_agent_alarm again; /* a connection waits until there is memory for it */
} takt_agent_listening;

/* Of connection.c. */
typedef struct takt_agent_connections {
    takt_link all, to_do;
    size_t count;
    uint64_t last_number;
    takt_resp *spare_resp;
    char *buffer; /* for reading */
    uv_prepare_t turn;
} takt_agent_connections;

/* Of acquire.c and lines.c. */
typedef struct takt_agent_waiters {
    takt_table wishes, lines, flows, seats, tags;
    size_t count;
} takt_agent_waiters;

/* Of permit.c. */
typedef struct takt_agent_permits {
    takt_table tokens;
    size_t held;        /* those with a fencing number */
    takt_link detached; /* those without one and without a connection, the oldest first */
    size_t detached_count;
    uint64_t random; /* the state from which tokens are drawn */
} takt_agent_permits;

/* Of alarm.c. */
typedef struct takt_agent_alarms {
    takt_heap heap;
    uv_timer_t timer;
} takt_agent_alarms;

/* Of status.c. */
typedef struct takt_agent_status {
    takt_notify notify;
    takt_status_server *server;
    struct takt_agent_watch *watch;
    int64_t started_at_us;
} takt_agent_status;

struct takt_agent {
    uv_loop_t loop;
    takt_agent_options options;
    takt_agent_callbacks callbacks;
    takt_agent_limits limits;
    takt_relays *relays;
    struct {
        bool lost;
        char trouble[256];
    } store;
    takt_agent_listening listening;
    takt_agent_connections connections;
    takt_agent_waiters waiters;
    takt_agent_permits permits;
    takt_agent_alarms alarms;
    takt_agent_status status;
    takt_agent_figures figures;

    /* of agent.c */
    takt_signals signals;
    uv_timer_t drain, slow;
    bool draining, ended;
    int exit_status;
};

/* ---- alarm.c --------------------------------------------------------------------------------- */

void takt_agent_alarms_open(takt_agent *agent);
void takt_agent_set_alarm(takt_agent *agent, takt_agent_alarm *alarm, int64_t after_ms,
                          void (*ring)(takt_agent *agent, takt_agent_alarm *alarm));
void takt_agent_unset_alarm(takt_agent *agent, takt_agent_alarm *alarm); /* harmless when not set */

/* ---- listen.c -------------------------------------------------------------------------------- */

int takt_agent_listen(takt_agent *agent); /* 0, or the exit status after a message */
void takt_agent_listen_no_more(takt_agent *agent);

/* ---- connection.c ---------------------------------------------------------------------------- */

/* Takes over the connection of a listener, or ends it if it may not connect. False: there is no
 * memory for it, and it waits. */
bool takt_agent_connection_accept(takt_agent *agent, uv_stream_t *listener, bool is_unix);

/* Ends it at once. Its waiters leave, and its permits are free or detached. */
void takt_agent_connection_end(takt_agent_connection *connection);

/* Each turn of the loop: reads on and writes. */
void takt_agent_connections_turn(takt_agent *agent);

/* ---- command.c ------------------------------------------------------------------------------- */

/* Does a command: `words` are `count` texts. */
void takt_agent_command(takt_agent_connection *connection, const takt_reply *words, int count);

/* ---- acquire.c ------------------------------------------------------------------------------- */

void takt_agent_acquire(takt_agent_connection *connection, const takt_reply *words, int count);

/* Whether it is the same ACQUIRE as that of the connection's waiters: in a pipeline they wait
 * together, and any permit answers any of them. */
bool takt_agent_acquire_joins(const takt_agent_connection *connection, const takt_reply *words,
                              int count);

void takt_agent_try(takt_agent_connection *connection, const takt_reply *words, int count);
void takt_agent_cancel(takt_agent_connection *connection, const takt_reply *words, int count);

/* A waiter has its permit, or none by `code` of takt/error.h; it is gone then. */
void takt_agent_waiter_granted(takt_agent_waiter *waiter, takt_agent_permit *permit);
void takt_agent_waiter_refused(takt_agent_waiter *waiter, int code, int64_t retry_after_us);

/* Without an answer. */
void takt_agent_waiter_leave(takt_agent_waiter *waiter);

/* Waiters now, also of programs whose store is the agent. */
size_t takt_agent_waiting(const takt_agent *agent);

/* ---- permit.c -------------------------------------------------------------------------------- */

/* Names a granted permit and gives it to a connection. */
void takt_agent_permit_give(takt_agent_permit *permit, takt_agent_connection *connection,
                            int64_t detach_ms);

/* Gives it back and frees it. */
void takt_agent_permit_release(takt_agent *agent, takt_agent_permit *permit);

/* Its holder has gone. */
void takt_agent_permit_leave(takt_agent_permit *permit);

void takt_agent_permit_lost(takt_agent *agent, takt_permit *permit);

/* Permits with a fencing number now, also of programs whose store is the agent. */
size_t takt_agent_held(const takt_agent *agent);

void takt_agent_release(takt_agent_connection *connection, const takt_reply *words, int count);
void takt_agent_settle(takt_agent_connection *connection, const takt_reply *words, int count);
void takt_agent_detach(takt_agent_connection *connection, const takt_reply *words, int count);

/* ---- ledger.c -------------------------------------------------------------------------------- */

void takt_agent_ledger(takt_agent_connection *connection, const takt_reply *words, int count);
void takt_agent_standing_reply(takt_agent_connection *connection, const takt_standing *standing);

/* A call that blocks the connection until its answer. NULL: no memory, and the error was written.
 */
takt_agent_call *takt_agent_call_begin(takt_agent_connection *connection);

/* Its answer is there, or it did not begin. Returns the connection; NULL: it has ended. */
takt_agent_connection *takt_agent_call_end(takt_agent_call *call);

/* ---- relay.c --------------------------------------------------------------------------------- */

void takt_agent_relay(takt_agent_connection *connection, const takt_reply *words, int count);

/* ---- limits.c -------------------------------------------------------------------------------- */

/* The client and the policy of a limit; the agent's own if no program defined the limit. */
takt_client *takt_agent_client_of(const takt_agent *agent, const char *limit);
const takt_policy *takt_agent_policy_of(const takt_agent *agent, const char *limit);

int takt_agent_limits_open(takt_agent *agent); /* 0, or the exit status after a message */
void takt_agent_limits_reread(takt_agent *agent);
void takt_agent_limits_free(takt_agent *agent);
void takt_agent_define(takt_agent_connection *connection, const takt_reply *words, int count);
/* Writes the error for a limit that no policy has. */
void takt_agent_refuse_limit(takt_agent_connection *connection, const char *limit);

void takt_agent_tell_policy(takt_agent_connection *connection, const takt_reply *words, int count);

/* ---- status.c -------------------------------------------------------------------------------- */

int takt_agent_status_open(takt_agent *agent);  /* 0, or the exit status after a message */
void takt_agent_status_last(takt_agent *agent); /* the file gets the last figures of the clients */
void takt_agent_status_close(takt_agent *agent);
void takt_agent_status_tell(takt_agent *agent, const char *state); /* to the service manager */
void takt_agent_info(takt_agent_connection *connection, const takt_reply *words, int count);

/* ---- for all of them ------------------------------------------------------------------------- */

/* Something was written to a connection, or its next command may be read: in this turn of the loop.
 */
static inline void takt_agent_go_on(takt_agent_connection *connection)
{
    if (!connection->closing && takt_list_empty(&connection->to_do))
        takt_list_append(&connection->agent->connections.to_do, &connection->to_do);
}

/* There is no memory for an answer: the connection ends in this turn of the loop. */
static inline void takt_agent_break_off(takt_agent_connection *connection)
{
    connection->broken = true;
    takt_agent_go_on(connection);
}

#endif
