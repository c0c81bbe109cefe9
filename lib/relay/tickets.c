/*
 * tickets.c: the tickets of a counter that wait, by classes: as many as its desks want.
 */
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "client/acquire.h"
#include "relay/relay.h"

takt_ticket_class *takt_tickets_find(const takt_counter *counter, takt_relay_kind kind)
{
    for (int i = 0; i < counter->class_count; i++)
        if (takt_relay_alike(counter->classes[i].kind, kind))
            return &counter->classes[i];
    return NULL;
}

/* When classes move in memory, the heads of their rings of tickets move too. */
static void move_class(takt_ticket_class *to, takt_ticket_class *from)
{
    takt_link tickets;

    takt_list_init(&tickets);
    takt_list_move(&tickets, &from->first);
    if (to != from)
        *to = *from;
    takt_list_init(&to->first);
    takt_list_move(&to->first, &tickets);
}

takt_ticket_class *takt_tickets_class(takt_counter *counter, takt_relay_kind kind)
{
    takt_ticket_class *class = takt_tickets_find(counter, kind), *grown;

    if (class != NULL)
        return class;
    if (counter->class_count == counter->class_room) {
        int room = counter->class_room > 0 ? 2 * counter->class_room : 2;
        grown = malloc((size_t)room * sizeof *grown);
        if (grown == NULL)
            return NULL;
        for (int i = 0; i < counter->class_count; i++)
            move_class(&grown[i], &counter->classes[i]);
        free(counter->classes);
        counter->classes = grown;
        counter->class_room = room;
    }
    class = &counter->classes[counter->class_count++];
    *class = (takt_ticket_class){.kind = kind};
    takt_list_init(&class->first);
    return class;
}

static void drop_empty_classes(takt_counter *counter)
{
    int kept = 0;

    for (int i = 0; i < counter->class_count; i++)
        if (counter->classes[i].wanted > 0 || counter->classes[i].count > 0)
            move_class(&counter->classes[kept++], &counter->classes[i]);
    counter->class_count = kept;
}

takt_ticket *takt_ticket_new(takt_counter *counter)
{
    takt_ticket *ticket = calloc(1, sizeof *ticket);

    if (ticket == NULL)
        return NULL;
    ticket->counter = counter;
    takt_list_init(&ticket->link);
    takt_list_init(&ticket->permit.line);
    return ticket;
}

/* Whether a limit in force bounds its waiters. */
static bool is_bounded(const takt_counter *counter)
{
    takt_chain chain = takt_counter_chain(counter);

    for (int level = 0; level < chain.count; level++)
        if (chain.limits[level]->numbers.max_waiting > 0)
            return true;
    return false;
}

static int64_t target_of(const takt_counter *counter, const takt_ticket_class *class)
{
    return is_bounded(counter)
               ? class->wanted
               : takt_min(class->wanted, takt_max(TAKT_TICKETS_MAX, counter->programs));
}

static bool add_ticket(takt_counter *counter, takt_queue *queue, takt_ticket_class *class,
                       takt_acquire_cb due)
{
    takt_relays *relays = counter->relays;
    takt_ticket *ticket =
        relays->tickets < TAKT_TICKETS_OF_ALL_MAX ? takt_ticket_new(counter) : NULL;

    if (ticket == NULL)
        return false;
    takt_list_append(&class->first, &ticket->link);
    class->count++;
    relays->tickets++;
    takt_acquire_ticket(relays->client, queue, &ticket->permit, class->kind.cost, class->kind.more,
                        class->kind.priority, due);
    return true;
}

/* The newest ticket leaves. */
static void drop_ticket(takt_counter *counter, takt_ticket_class *class)
{
    takt_ticket *ticket = TAKT_HOLDER(class->first.previous, takt_ticket, link);

    takt_list_remove(&ticket->link);
    class->count--;
    counter->relays->tickets--;
    takt_release(&ticket->permit);
    free(ticket);
}

int takt_tickets_fit(takt_counter *counter, takt_acquire_cb due)
{
    takt_queue *queue = NULL;

    for (int i = 0; i < counter->class_count; i++) {
        takt_ticket_class *class = &counter->classes[i];
        int64_t target = target_of(counter, class);
        while (class->count > target)
            drop_ticket(counter, class);
        if (class->count < target && queue == NULL)
            queue = takt_counter_queue(counter);
        while (class->count < target)
            if (queue == NULL || !add_ticket(counter, queue, class, due))
                return TAKT_E_NOMEM;
    }
    drop_empty_classes(counter);
    return 0;
}
