/*
 * deal.c: which desk gets a ticket whose slot is due, and which one loses a waiter.
 *
 * Desks take turns: a desk that was served goes to the end. So a program with a million waiters
 * does not delay one with three.
 */
#include <stdlib.h>

#include "client/settle.h"
#include "relay/relay.h"
#include "scheduler/registry.h"

static void on_ticket(takt_permit *permit, int status);

int takt_deal_fit(takt_counter *counter)
{
    return takt_tickets_fit(counter, on_ticket);
}

static takt_relay_class *want_of(takt_desk *desk, const takt_permit *permit)
{
    takt_relay_class *class =
        takt_relay_find(desk->wants, desk->want_count, takt_ticket_kind(permit));

    return class != NULL && class->count > 0 ? class : NULL;
}

/* The desk whose turn it is.  for_slot: of those whose next report has room for a slot.  NULL: no
 * desk waits. */
static takt_desk *choose(const takt_counter *counter, const takt_permit *permit, bool for_slot)
{
    for (takt_link *at = counter->desks.next; at != &counter->desks; at = at->next) {
        takt_desk *desk = TAKT_HOLDER(at, takt_desk, at_counter);
        if (want_of(desk, permit) != NULL &&
            !(for_slot && desk->slot_count == TAKT_RELAY_SLOTS_MAX))
            return desk;
    }
    return NULL;
}

/* The desk to which such waiters have come last; NULL: no desk waits. */
static takt_desk *choose_newest(const takt_counter *counter, const takt_permit *permit)
{
    takt_desk *chosen = NULL;
    int64_t last = 0;

    for (takt_link *at = counter->desks.next; at != &counter->desks; at = at->next) {
        takt_desk *desk = TAKT_HOLDER(at, takt_desk, at_counter);
        const takt_relay_class *class = want_of(desk, permit);
        if (class == NULL || desk->came[class - desk->wants] < last)
            continue;
        chosen = desk;
        last = desk->came[class - desk->wants];
    }
    return chosen;
}

/* The desk that loses a waiter like this one, because too many wait: as among the workers of a
 * fleet (core/overflow.h) the oldest waiters are those of the next turn.  NULL: no desk waits. */
static takt_desk *choose_loser(const takt_counter *counter, const takt_permit *permit)
{
    return permit->left == TAKT_WHEN_FULL_DROP_OLDEST ? choose(counter, permit, false)
                                                      : choose_newest(counter, permit);
}

static bool note_unseen(takt_desk *desk, const takt_permit *permit, int64_t index)
{
    if (desk->unseen_count == desk->unseen_room) {
        int room = desk->unseen_room > 0 ? 2 * desk->unseen_room : 4;
        takt_unseen *grown = realloc(desk->unseen, (size_t)room * sizeof *grown);
        if (grown == NULL)
            return false;
        desk->unseen = grown;
        desk->unseen_room = room;
    }
    desk->unseen[desk->unseen_count++] =
        (takt_unseen){index, takt_ticket_kind(permit), permit->hold != TAKT_HOLD_NONE};
    return true;
}

/* Gives the slot back: its cost, and the permit with it. */
static void hand_back(takt_counter *counter, takt_ticket *ticket)
{
    const takt_queue *queue = takt_counter_queue(counter);

    if (queue != NULL && ticket->permit.slot_at_us > 0 && !ticket->permit.uncharged)
        takt_settle_ticket(counter->relays->client, queue, &ticket->permit);
    takt_release(&ticket->permit);
    free(ticket);
}

static void deal(takt_counter *counter, takt_ticket_class *class, takt_ticket *ticket)
{
    takt_permit *permit = &ticket->permit;
    takt_desk *desk = choose(counter, permit, true);
    int64_t index = desk != NULL ? desk->relay->index + 1 : 0;

    if (desk == NULL || !note_unseen(desk, permit, index)) {
        hand_back(counter, ticket);
        return;
    }
    desk->relay->index = desk->index = index;
    want_of(desk, permit)->count--;
    class->wanted--;
    takt_wants_note(desk);
    desk->slots[desk->slot_count++] =
        (takt_relay_slot){permit->slot_at_us, takt_ticket_kind(permit), permit->fence};
    takt_list_remove(&desk->at_counter);
    takt_list_append(&counter->desks, &desk->at_counter);
    takt_report_ask(desk);
    if (permit->hold != TAKT_HOLD_NONE) {
        takt_wants_hold(desk, ticket);
    } else {
        takt_release(permit);
        free(ticket);
    }
}

/* The program's waiters leave, for that reason. */
static void fail(takt_desk *desk, int status)
{
    takt_wants_count(desk, -1);
    desk->want_count = 0;
    takt_wants_note(desk);
    desk->failed = status;
    takt_report_ask(desk);
}

/* The store has failed, or the agent is closing: all waiters leave. */
static void send_away(takt_counter *counter, int status)
{
    for (takt_link *at = counter->desks.next; at != &counter->desks; at = at->next) {
        takt_desk *desk = TAKT_HOLDER(at, takt_desk, at_counter);
        if (desk->want_count > 0)
            fail(desk, status);
    }
    (void)takt_deal_fit(counter);
}

/* Whether the desk's program learns by a report that the numbers in force never give that cost. */
static bool learns(const takt_desk *desk, takt_relay_kind kind)
{
    const takt_queue *queue = takt_counter_find_queue(desk->counter);
    takt_amounts taken = takt_amounts_of(kind.cost, kind.more);

    for (int level = 0; level < desk->counter->said.count; level++) {
        const takt_numbers *newer = takt_report_newer(desk, level);
        if (newer != NULL &&
            !takt_numbers_can_give(
                newer, takt_amounts_by(level > 0 ? takt_inner_units(&queue->nest->inner[level - 1])
                                                 : takt_queue_units(queue),
                                       taken)))
            return true;
    }
    return false;
}

/* The numbers in force never give that cost.  Programs that have others learn them by a report, and
 * refuse their waiters themselves. */
static void refuse_cost(const takt_counter *counter, takt_ticket_class *class)
{
    for (takt_link *at = counter->desks.next; at != &counter->desks; at = at->next) {
        takt_desk *desk = TAKT_HOLDER(at, takt_desk, at_counter);
        takt_relay_class *wanted = takt_relay_find(desk->wants, desk->want_count, class->kind);
        if (wanted == NULL || wanted->count == 0)
            continue;
        class->wanted -= wanted->count;
        wanted->count = 0;
        takt_wants_note(desk);
        if (learns(desk, class->kind))
            takt_report_ask(desk);
        else
            fail(desk, TAKT_E_COST);
    }
}

/* Too many wait: a program refuses one of its waiters. */
static void refuse(takt_counter *counter, takt_ticket_class *class, const takt_permit *permit)
{
    takt_desk *desk = choose_loser(counter, permit);

    if (desk == NULL)
        return;
    if (note_unseen(desk, permit, desk->relay->index + 1))
        desk->index = ++desk->relay->index;
    want_of(desk, permit)->count--;
    class->wanted--;
    takt_wants_note(desk);
    takt_relay_leave(&desk->leaving, (takt_when_full)permit->left, 1);
    takt_report_ask(desk);
}

static void on_ticket(takt_permit *permit, int status)
{
    takt_ticket *ticket = (takt_ticket *)permit;
    takt_counter *counter = ticket->counter;
    takt_ticket_class *class = takt_tickets_find(counter, takt_ticket_kind(permit));

    takt_list_remove(&ticket->link);
    class->count--;
    counter->relays->tickets--;
    if (status == 0) {
        deal(counter, class, ticket);
    } else {
        if (status == TAKT_E_COST)
            refuse_cost(counter, class);
        else if (status == TAKT_E_FULL)
            refuse(counter, class, permit);
        else
            send_away(counter, status);
        takt_release(permit);
        free(ticket);
    }
    /* without tickets no slot would come, so the programs state their waiters again */
    if (takt_deal_fit(counter) != 0)
        send_away(counter, TAKT_E_NOMEM);
    takt_counter_tidy(counter);
}

void takt_deal_drain(takt_counter *counter)
{
    send_away(counter, TAKT_E_STORE);
}

bool takt_deal_lost(takt_permit *permit)
{
    takt_ticket *ticket = (takt_ticket *)permit;

    if (permit->callback != on_ticket)
        return false;
    if (ticket->desk != NULL) {
        ticket->desk->lost = true;
        takt_report_ask(ticket->desk);
    }
    return true;
}
