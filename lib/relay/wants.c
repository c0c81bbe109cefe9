/*
 * wants.c: what a program wants at a desk, and the permits that it holds there.
 */
#include <stdlib.h>
#include <string.h>

#include "relay/relay.h"

void takt_wants_count(takt_desk *desk, int sign)
{
    for (int i = 0; i < desk->want_count; i++) {
        takt_ticket_class *class = takt_tickets_find(desk->counter, desk->wants[i].kind);
        if (class != NULL)
            class->wanted += sign * desk->wants[i].count;
    }
}

static void end_presence(takt_desk *desk)
{
    takt_presence_end(desk->relay->relays->client, desk->presence);
    desk->counter->programs -= desk->presence != NULL;
    desk->presence = NULL;
}

bool takt_wants_any(const takt_desk *desk)
{
    for (int i = 0; i < desk->want_count; i++)
        if (desk->wants[i].count > 0)
            return true;
    return false;
}

void takt_wants_note(takt_desk *desk)
{
    takt_client *client = desk->relay->relays->client;
    takt_queue *queue;

    if (takt_wants_any(desk) && desk->presence == NULL) {
        queue = takt_counter_queue(desk->counter);
        desk->presence = queue != NULL ? takt_presence_begin(client, desk->relay, queue) : NULL;
        desk->counter->programs += desk->presence != NULL;
    } else if (!takt_wants_any(desk)) {
        end_presence(desk);
    }
}

void takt_wants_take(takt_desk *desk, const takt_relay_class *stated, int count)
{
    takt_relay_class wants[TAKT_RELAY_CLASSES_MAX];
    int64_t came[TAKT_RELAY_CLASSES_MAX];

    memcpy(wants, stated, (size_t)count * sizeof *wants);
    for (int i = 0; i < desk->unseen_count; i++) {
        takt_relay_class *class = takt_relay_find(wants, count, desk->unseen[i].kind);
        if (class != NULL && class->count > 0)
            class->count--;
    }
    for (int i = 0; i < count; i++) {
        const takt_relay_class *before =
            takt_relay_find(desk->wants, desk->want_count, wants[i].kind);
        came[i] = before != NULL && before->count >= wants[i].count
                      ? desk->came[before - desk->wants]
                      : desk->stated;
    }
    if (!takt_wants_any(desk)) {
        takt_list_remove(&desk->at_counter);
        takt_list_append(&desk->counter->desks, &desk->at_counter);
    }
    memcpy(desk->wants, wants, (size_t)count * sizeof *wants);
    memcpy(desk->came, came, (size_t)count * sizeof *came);
    desk->want_count = count;
}

void takt_wants_hold(takt_desk *desk, takt_ticket *ticket)
{
    ticket->desk = desk;
    takt_list_append(&desk->held, &ticket->link);
    desk->held_count++;
    desk->relay->relays->held++;
}

void takt_wants_free(takt_desk *desk, int64_t holding)
{
    while (desk->held_count > holding) {
        takt_ticket *ticket = TAKT_HOLDER(desk->held.next, takt_ticket, link);
        takt_list_remove(&ticket->link);
        desk->held_count--;
        desk->relay->relays->held--;
        takt_release(&ticket->permit);
        free(ticket);
    }
}
