/*
 * relay.h: the programs behind one agent, from the inside.
 *
 * A program's connection is a relay.  It has a desk for each ledger that it waits for.  A counter
 * is one ledger of all programs: its waiters are tickets, permits of the agent's client.  A ticket
 * belongs to no program until its slot is due: then it goes to the desk whose turn it is.
 *
 * relay.c reads commands.  desk.c keeps desks.  counter.c keeps as many tickets as are wanted, and
 * deals them.  report.c sends the reports.  relay_call.c has the calls that are no claims.
 */
#ifndef TAKT_RELAY_RELAY_H
#define TAKT_RELAY_RELAY_H

#include <takt/relay.h>

#include "client/client.h"
#include "store/agent/message.h"

#define TAKT_TICKETS_MAX 1024 /* that wait, of one class; with max_waiting each waiter has one */

struct takt_relays {
    takt_client *client;
    char name_space[TAKT_NAME_SIZE_MAX + 1];
    takt_table counters;
    takt_link relays;
    takt_link reporting; /* desks that have something to say */
    takt_link asking;    /* desks that say it when the store has counted their waiters */
    uv_idle_t turn;      /* runs while a desk has something to say */
    uv_prepare_t look;   /* runs while one is asking */
    size_t held;         /* permits of all programs */
    int64_t stated;      /* the number of the last statement of any desk */
    int handles;         /* handles to close */
};

/* The waiters of a counter that are alike. */
typedef struct takt_ticket_class {
    int32_t cost, priority;
    int64_t wanted;  /* by all desks */
    int64_t count;   /* tickets that wait */
    takt_link first; /* of these, the oldest first */
} takt_ticket_class;

typedef struct takt_counter {
    takt_entry entry; /* the limit's name, a NUL, the key */
    takt_relays *relays;
    const takt_limit *limit; /* as the programs say it last */
    takt_link desks;         /* the next one to be served first */
    takt_ticket_class *classes;
    int class_count, class_room;
    size_t name_size;
    char key[];
} takt_counter;

/* A slot that a program may not have seen yet. */
typedef struct takt_unseen {
    int64_t index;
    int32_t cost, priority;
    bool holds; /* a permit is held with it */
} takt_unseen;

typedef struct takt_desk {
    takt_entry entry; /* in the relay's table, by the same name as the counter's */
    takt_relay *relay;
    takt_counter *counter;
    takt_link at_counter;
    takt_link report; /* in one of the lists of takt_relays */
    takt_relay_class wants[TAKT_RELAY_CLASSES_MAX];
    int want_count;
    takt_unseen *unseen;
    int unseen_count, unseen_room;
    takt_link held; /* tickets, the oldest first */
    int64_t held_count;
    int calls;            /* under way */
    int64_t stated;       /* the number of its last statement */
    int64_t seq;          /* to be told in the next report; 0: nothing was asked */
    takt_numbers numbers; /* of the limit, as this program says them */
    /* to be told */
    takt_relay_slot slots[TAKT_RELAY_SLOTS_MAX];
    int slot_count;
    int64_t index; /* of the last of these slots */
    int64_t refused;
    bool lost;
    int failed;
} takt_desk;

/* One waiter. */
typedef struct takt_ticket {
    takt_permit permit; /* first */
    takt_counter *counter;
    takt_desk *desk; /* that holds it; NULL: it waits */
    takt_link link;  /* in its class, or among the held ones of its desk */
} takt_ticket;

struct takt_relay {
    takt_relays *relays;
    takt_link link;
    takt_table desks;
    takt_brought_limit **limits; /* by id, from 1 on */
    int64_t limit_count;
    int64_t limit_room;
    takt_link calls; /* under way: relay_call.c */
    bool opened;
    int64_t index; /* of the last slot that was given */
    takt_relay_send send;
    void *data;
};

/* ---- counter.c */

/* The desk's program has said what it waits for and how much it holds, not counting slots that it
 * has not seen. */
int takt_counter_state(takt_desk *desk, const takt_relay_class *wants, int count, int64_t holding);

/* The desk's waiters leave and its permits are free; frees the desk. */
void takt_counter_leave(takt_desk *desk);

/* The counter of a desk's ledger, made if necessary; NULL: no memory. */
takt_counter *takt_counter_of(takt_relays *relays, const takt_limit *limit, const void *name,
                              size_t name_size);

/* The queue of that ledger; NULL: no memory. */
takt_queue *takt_counter_queue(const takt_counter *counter);

/* Whether a permit is a ticket; if so its desk has lost it. */
bool takt_counter_lost(takt_permit *permit);

/* A ticket that a try has got. */
takt_ticket *takt_counter_new_ticket(takt_counter *counter);
void takt_counter_hold(takt_desk *desk, takt_ticket *ticket);

/* ---- report.c */

/* The desk has something to say. */
void takt_report_ask(takt_desk *desk);

/* ... once the store has counted its waiters. */
void takt_report_ask_later(takt_desk *desk);

void takt_report_begin(takt_relays *relays);
void takt_report_now(takt_relays *relays);
void takt_report_send(takt_relay *relay, int count, const char *const *words, const size_t *sizes);

/* ---- relay_call.c */

/* Handles CALL, POLICY and APPLY.  False: malformed. */
bool takt_relay_call(takt_relay *relay, int count, const char *const *words, const size_t *sizes);

/* The calls under way have nobody left to answer. */
void takt_relay_call_leave(takt_relay *relay);

/* ---- desk.c */

/* The id that a word names; 0: it is none. */
int64_t takt_relay_id(const char *id, size_t size);

/* Frees a desk of which nothing is known any more. */
void takt_relay_desk_tidy(takt_desk *desk);

/* The desk of a ledger, made if necessary; NULL: no memory, or the id is unknown. */
takt_desk *takt_relay_desk_at(takt_relay *relay, const char *id, size_t id_size, const char *key,
                              size_t key_size);

#endif
