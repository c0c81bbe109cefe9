/*
 * desk.h: one ledger as a client of the agent sees it: what the agent knows of its waiters and
 * permits, and which slots have arrived.  No I/O: agent.c sends what is to be said.
 *
 * A claim states a situation.  The desk compares it with what the agent believes, so that a claim
 * which brings no news costs nothing.  Slots arrive when they are due, and the next claim gets
 * them.
 */
#ifndef TAKT_STORE_AGENT_DESK_H
#define TAKT_STORE_AGENT_DESK_H

#include "base/table.h"
#include "store/agent/message.h"
#include "store/store.h"

typedef struct takt_agent_desk {
    takt_entry entry; /* its key: the name of the client's queue (takt_registry_named) */
    /* The limits as they were stated on this connection, the outermost first; NULL: not yet. */
    const struct takt_agent_limit *limits[TAKT_LEVELS_MAX];
    int connection;            /* the number of the connection of the last statement */
    takt_store_call *claiming; /* a claim that waits for the agent's report; NULL: none */
    int64_t seq;               /* of the last statement */

    /* What the agent believes: the waiters without a slot, and the permits held. */
    takt_relay_class wants[TAKT_RELAY_CLASSES_MAX];
    int want_count;
    int64_t holding;
    int64_t weight; /* of the tenant; 0: no limit has any */
    takt_inside inside;

    /* What the agent has said. */
    takt_relay_slot slots[TAKT_RELAY_SLOTS_MAX]; /* arrived and not in an award yet */
    int slot_count;
    int64_t next_slot_us, blocked_until_us, waiting, workers;
    takt_relay_leaves leaving;
    int64_t leased_until_us; /* by the local clock; 0: not known */
    int64_t heard_us;        /* when that was said, by the local clock */
    int64_t store_offset_us; /* local clock - that of the ledger's server; 0: not heard */
    bool lost;               /* the permits held are lost */
    bool unsure;             /* it has refused waiters: the others are stated anew */
    takt_relay_newer newer;  /* in force */
    int failed;              /* why the waiters were sent away; 0: they were not */

    char key[]; /* of the entry */
} takt_agent_desk;

/* NULL: no memory. */
takt_agent_desk *takt_agent_desk_new(const char *name, size_t size);

/* The word KEY of messages (message.h), which is *size bytes long. */
const char *takt_agent_desk_word(const takt_agent_desk *desk, size_t *size);

/* Another connection was made, with that number: the agent knows nothing, and the permits held are
 * lost. */
void takt_agent_desk_renew(takt_agent_desk *desk, int connection);

/*
 * Compares a claim with the agent's state, which then becomes that of the claim. Returns whether
 * the agent needs a message. *asks: the claim needs the agent's report.
 */
bool takt_agent_desk_state(takt_agent_desk *desk, const takt_store_call *call, int64_t now_us,
                           bool *asks);

/* The same of what a try states: the permits held. */
bool takt_agent_desk_hold(takt_agent_desk *desk, const takt_store_call *call);

/* A slot has arrived.  False: more than asked for. */
bool takt_agent_desk_arrived(takt_agent_desk *desk, const takt_relay_slot *slot);

/* The shortest lease of a call's permits by the numbers in force, as takt_queue_lease; TAKT_NEVER:
 * no level has any.  desk NULL: none has said other numbers. */
int64_t takt_agent_desk_lease(const takt_agent_desk *desk, const takt_store_call *call);

/* Answers a claim with the slots that have arrived, at that instant of the store's clock. */
void takt_agent_desk_award(takt_agent_desk *desk, takt_store_call *call, int64_t now_us,
                           int64_t store_us);

/* Whether the desk has no state that the next claim needs. */
bool takt_agent_desk_is_idle(const takt_agent_desk *desk);

#endif
