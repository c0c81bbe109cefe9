/*
 * relay.h: the programs behind one agent, from the inside.
 *
 * A program's connection is a relay.  It has a desk for each ledger that it waits for; of nested
 * work (scheduler/nest.h) for each outermost ledger with its chain of inner ones.  A counter is
 * what the desks for the same ledgers of all programs share: its waiters are tickets, permits of
 * the agent's client.  A ticket belongs to no program until its slot is due: then it goes to the
 * desk whose turn it is.
 *
 * relay.c reads commands.  desk.c keeps desks, and wants.c what each of them wants and holds.
 * counter.c has the limits of a counter.  tickets.c keeps as many tickets as are wanted, and deal.c
 * deals them.  report.c sends the reports.  relay_call.c has the calls that are no claims.
 */
#ifndef TAKT_RELAY_RELAY_H
#define TAKT_RELAY_RELAY_H

#include <takt/relay.h>

#include "client/client.h"
#include "relay/presence.h"
#include "scheduler/registry.h"
#include "store/agent/message.h"

/* Tickets that wait, of one class, unless more programs have waiters; with max_waiting each waiter
 * has one. */
#define TAKT_TICKETS_MAX 1024

/* Tickets that wait, of all programs. More waiters fail for lack of memory. */
#define TAKT_TICKETS_OF_ALL_MAX 1000000

#define TAKT_RELAY_CALLS_MAX 256 /* under way for a connection, before it is busy */

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
    size_t tickets;      /* that wait */
    int64_t stated;      /* the number of the last statement of any desk */
    bool draining;
    int handles; /* handles to close */
};

/* The waiters of a counter that are alike. */
typedef struct takt_ticket_class {
    takt_relay_kind kind;
    int64_t wanted;  /* by all desks */
    int64_t count;   /* tickets that wait */
    takt_link first; /* of these, the oldest first */
} takt_ticket_class;

typedef struct takt_counter {
    takt_entry entry; /* by the limit's name, a NUL and KEY (message.h): its queue's name, too */
    takt_relays *relays;
    takt_chain said;         /* the limits that the programs stated last; one: it is not nested */
    const char *tenant_name; /* "": none, or that of no name */
    int32_t weight;          /* of the tenant, as the programs stated it last; 0: none has */
    takt_link desks;         /* the next one to be served first */
    takt_ticket_class *classes;
    int class_count, class_room;
    int64_t programs; /* that have waiters */
    char name[];      /* of the entry */
} takt_counter;

/* A slot or a refusal that a program may not have seen yet. */
typedef struct takt_unseen {
    int64_t index;
    takt_relay_kind kind;
    bool holds; /* a permit is held with it */
} takt_unseen;

typedef struct takt_desk {
    takt_entry entry; /* in the relay's table, by the same name as the counter's */
    takt_relay *relay;
    takt_counter *counter;
    takt_link at_counter;
    takt_link report; /* in one of the lists of takt_relays */
    takt_relay_class wants[TAKT_RELAY_CLASSES_MAX];
    int64_t came[TAKT_RELAY_CLASSES_MAX]; /* for each: the last statement that had newcomers */
    int want_count;
    takt_presence *presence; /* while it has waiters */
    takt_unseen *unseen;
    int unseen_count, unseen_room;
    takt_link held; /* tickets, the oldest first */
    int64_t held_count;
    int calls;      /* under way */
    int64_t stated; /* the number of its last statement */
    int64_t seq;    /* its report comes next; 0: none was requested */
    /* of each limit, by level as in takt_award, as this program stated them */
    takt_numbers numbers[TAKT_LEVELS_MAX];
    /* the next report has it */
    takt_relay_slot slots[TAKT_RELAY_SLOTS_MAX];
    int slot_count;
    int64_t index; /* of the last of these slots, or of a refusal behind them */
    takt_relay_leaves leaving;
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
    int call_count;
    bool opened;
    int64_t index; /* of the last slot or refusal */
    takt_relay_send send;
    void *data;
};

/* ---- counter.c */

/* The counter of that name, made if necessary; its limits are still to be said.  NULL: no memory.
 */
takt_counter *takt_counter_of(takt_relays *relays, const char *name, size_t size);

/* Frees a counter without desks and tickets. */
void takt_counter_tidy(takt_counter *counter);

/* A program says its limits, the innermost first. */
void takt_counter_say(takt_counter *counter, const takt_limit *const *limits);

/* Its queue, made if necessary; NULL: no memory. */
takt_queue *takt_counter_queue(const takt_counter *counter);

/* The same if the queue exists. */
static inline const takt_queue *takt_counter_find_queue(const takt_counter *counter)
{
    return takt_registry_named(&counter->relays->client->scheduler, counter->name,
                               counter->entry.size);
}

/* The limits in force, and the outermost one. */
takt_chain takt_counter_chain(const takt_counter *counter);
const takt_limit *takt_counter_limit(const takt_counter *counter);

/* The tenant; NULL: none. */
static inline const char *takt_counter_tenant(const takt_counter *counter)
{
    return counter->tenant_name[0] || counter->weight > 0 ? counter->tenant_name : NULL;
}

/* ---- tickets.c */

/* A ticket that does not wait yet; NULL: no memory. */
takt_ticket *takt_ticket_new(takt_counter *counter);

/* For which waiters it is. */
static inline takt_relay_kind takt_ticket_kind(const takt_permit *permit)
{
    return (takt_relay_kind){permit->cost, permit->more, permit->priority};
}

/* The class of that kind; NULL: there is none.  The other one makes it if necessary; NULL: no
 * memory. */
takt_ticket_class *takt_tickets_find(const takt_counter *counter, takt_relay_kind kind);
takt_ticket_class *takt_tickets_class(takt_counter *counter, takt_relay_kind kind);

/* Lets as many tickets wait as desks want, with that callback.  0 or TAKT_E_NOMEM. */
int takt_tickets_fit(takt_counter *counter, takt_acquire_cb due);

/* ---- wants.c */

/* Counts the waiters of the desk among those of the counter (1), or no longer (-1). */
void takt_wants_count(takt_desk *desk, int sign);

/* Whether it has any. */
bool takt_wants_any(const takt_desk *desk);

/* Counts the program among those that wait, or no longer. */
void takt_wants_note(takt_desk *desk);

/* Takes over the waiters of a statement, without those that have a slot or were refused meanwhile,
 * and notes for which of them some have come.  A desk that begins to wait is the last to be served.
 */
void takt_wants_take(takt_desk *desk, const takt_relay_class *stated, int count);

/* The program holds a permit, or holds only so many: the oldest ones are freed. */
void takt_wants_hold(takt_desk *desk, takt_ticket *ticket);
void takt_wants_free(takt_desk *desk, int64_t holding);

/* ---- deal.c */

/* Lets as many tickets wait as desks want, and deals them when they are due.  0 or TAKT_E_NOMEM. */
int takt_deal_fit(takt_counter *counter);

/* Whether a permit is a ticket; if so its desk has lost it. */
bool takt_deal_lost(takt_permit *permit);

/* All waiters leave. */
void takt_deal_drain(takt_counter *counter);

/* ---- report.c */

/* The numbers in force of a level if they differ from the program's and are not older: the report
 * then has them.  NULL: it has none. */
const takt_numbers *takt_report_newer(const takt_desk *desk, int level);

/* Why a waiter or a call has failed with that status. */
const char *takt_report_trouble(const takt_relays *relays, int status);

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

/* Reads the stored policy, so that the client notices at once if the store is unreachable. */
void takt_relay_call_probe(takt_client *client);

/* The calls under way lose their receiver. */
void takt_relay_call_leave(takt_relay *relay);

/* ---- desk.c */

/* Frees a desk without any state. */
void takt_desk_tidy(takt_desk *desk);

/* The desk of a ledger, made if necessary; NULL: no memory, or the ids and the key are malformed.
 * idle: the program has no waiters and permits there, so a desk that exists keeps its numbers. */
takt_desk *takt_desk_at(takt_relay *relay, const char *ids, size_t ids_size, const char *key,
                        size_t key_size, bool idle);

/* The program has stated its waiters and how many permits it holds, not counting slots that it has
 * not seen.  0, or TAKT_E_NOMEM: none of its waiters wait. */
int takt_desk_state(takt_desk *desk, const takt_relay_class *wants, int count, int64_t holding);

/* Its waiters leave and its permits are free; frees the desk. */
void takt_desk_leave(takt_desk *desk);

#endif
