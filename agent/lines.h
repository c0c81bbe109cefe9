/*
 * lines.h: which waiter of the agent is next.
 *
 * Acquires that ask for the same are one wish: any permit of it suits each of them. When a permit
 * of a wish is granted, the connections with waiters of it take turns, so the waiters of one
 * connection do not delay those of another.
 *
 * The wishes of one limit, key, tenant and priority share a line. In the client's queue a line has
 * permits for about half a second of its rate, and never all of them: a newcomer does not wait
 * behind a million of others. Which connection puts in the next permit is deficit round robin by
 * cost (Shreedhar, Varghese 1995), however many wishes a connection has; these take turns inside
 * it. Which line goes first is the client's own decision, by priority.
 */
#ifndef TAKT_AGENT_LINES_H
#define TAKT_AGENT_LINES_H

#include "agent.h"

/* The wishes of one limit, key, tenant and priority. */
typedef struct takt_agent_line {
    takt_entry entry;
    takt_link flows; /* that have more waiters than permits in the client, the next one first */
    int64_t asked;   /* cost of the permits that wait in the client */
    int64_t bound;   /* of that; the client has a permit of each connection in any case */
    size_t asked_count, flow_count;
    int64_t quantum;         /* the largest cost of those that wait for a turn */
    unsigned policy_changes; /* of the policy that `bound` is of */
    bool asks;               /* takt_agent_line_ask is at work */
    size_t references;       /* wishes */
    char text[];
} takt_agent_line;

/* A connection in a line: a flow of deficit round robin. */
typedef struct takt_agent_flow {
    takt_entry entry;
    takt_link in_line;
    takt_link seats; /* that have more waiters than permits in the client, the next one first */
    int64_t deficit;
    bool in_turn;
    size_t references; /* seats */
    struct {
        takt_agent_connection *connection;
        takt_agent_line *line;
    } of;
} takt_agent_flow;

struct takt_agent_wish {
    takt_entry entry;
    takt_agent *agent;
    takt_agent_line *line;
    takt_request request; /* its texts are below */
    int64_t cost;         /* the sum of its amounts */
    takt_link seats;      /* the next one first */
    takt_link asked;      /* permits that wait in the client */
    takt_link waiters;    /* as they came */
    size_t asked_count;
    size_t references; /* waiters and permits */
    char text[];
};

/* The waiters of one connection for one wish, the oldest first. */
struct takt_agent_seat {
    takt_entry entry;
    takt_process *process; /* the connection, as the client knows it */
    takt_agent_flow *flow;
    takt_link in_wish, in_flow;
    takt_link waiters;
    takt_link asked; /* permits that it has put into the client's queue */
    size_t waiting, asked_count;
    struct {
        takt_agent_connection *connection;
        takt_agent_wish *wish;
    } of;
};

/* The wish of a request, with a reference for the caller. NULL: no memory. */
takt_agent_wish *takt_agent_wish_get(takt_agent *agent, const takt_request *request);
void takt_agent_wish_put(takt_agent_wish *wish);

/* Lets a waiter wait; its memory is the caller's. False: no memory. */
bool takt_agent_lines_enter(takt_agent_wish *wish, takt_agent_connection *connection,
                            takt_agent_waiter *waiter);

/* It waits no longer. Others may take its turn. */
void takt_agent_lines_leave(takt_agent_waiter *waiter);

/* Puts permits into the client's queue while there is room. */
void takt_agent_line_ask(takt_agent *agent, takt_agent_line *line);

#endif
