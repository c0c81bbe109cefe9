/*
 * counter.c: the tickets of one ledger, and which desk gets them.
 *
 * Desks take turns: a desk that was served goes to the end. So a program with a million waiters
 * does not delay one with three.
 */
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "client/acquire.h"
#include "client/settle.h"
#include "relay/relay.h"
#include "scheduler/registry.h"
#include "scheduler/renew.h"

static void on_ticket(takt_permit *permit, int status);

/* Of one level the limit that the agent's own policy has, if the program's is no newer. */
static const takt_limit *in_force(const takt_counter *counter, int level)
{
    const takt_policy *policy = counter->relays->client->policy;
    const takt_limit *said = counter->said.limits[level];
    const takt_limit *own = takt_policy_find(policy, said->name);

    return own == NULL || own->numbers.revision < said->numbers.revision
               ? said
               : takt_policy_renewed(policy, own, counter->said.keys[level]);
}

/* The limits in force; those that the programs say if one claim cannot decide about the others, or
 * these count units of which the programs' waiters state no amounts. */
static takt_chain chain_of(const takt_counter *counter)
{
    takt_chain chain = counter->said;

    for (int level = 0; level < chain.count; level++)
        chain.limits[level] = in_force(counter, level);
    return chain.count == 1 || (takt_chain_is_nested(&chain) &&
                                takt_chain_follows(&counter->said, chain.limits))
               ? chain
               : counter->said;
}

static int32_t weight_of(const takt_counter *counter)
{
    return counter->weight > 0 ? counter->weight : 1;
}

takt_queue *takt_counter_queue(const takt_counter *counter)
{
    takt_scheduler *scheduler = &counter->relays->client->scheduler;
    takt_chain chain = chain_of(counter);
    const char *tenant = takt_counter_tenant(counter);
    takt_queue *queue;

    if (chain.count > 1) {
        queue = takt_registry_nested(scheduler, &chain, tenant, weight_of(counter));
        if (queue != NULL)
            takt_renew_nested(scheduler, queue, &chain);
        return queue;
    }
    queue =
        takt_registry_tenant(scheduler, chain.limits[0], chain.keys[0], tenant, weight_of(counter));
    if (queue != NULL && queue->limit != chain.limits[0])
        takt_renew_queue(scheduler, queue, chain.limits[0]);
    return queue;
}

const takt_limit *takt_counter_limit(const takt_counter *counter)
{
    return chain_of(counter).limits[counter->said.count - 1];
}

static takt_relay_kind kind_of(const takt_permit *permit)
{
    return (takt_relay_kind){permit->cost, permit->more, permit->priority};
}

static void name_levels(takt_counter *counter)
{
    takt_relay_parts parts;
    takt_chain *said = &counter->said;

    (void)takt_relay_read_name(&parts, counter->name, counter->entry.size); /* it was checked */
    counter->tenant_name = parts.tenant;
    said->count = parts.inner_count + 1;
    said->numbered = true;
    memcpy(said->maps, parts.units, sizeof said->maps);
    for (int i = 0; i < said->count; i++)
        said->keys[i] = i < parts.inner_count ? parts.inner[i].key : parts.key;
}

takt_counter *takt_counter_of(takt_relays *relays, const char *name, size_t size)
{
    takt_entry *entry = takt_table_find(&relays->counters, name, size);
    takt_counter *counter = entry != NULL ? TAKT_HOLDER(entry, takt_counter, entry)
                                          : calloc(1, sizeof *counter + size + 1);

    if (counter == NULL || entry != NULL)
        return counter;
    counter->relays = relays;
    memcpy(counter->name, name, size);
    counter->entry.key = counter->name;
    counter->entry.size = size;
    name_levels(counter);
    takt_list_init(&counter->desks);
    takt_table_add(&relays->counters, &counter->entry);
    return counter;
}

void takt_counter_say(takt_counter *counter, const takt_limit *const *limits)
{
    size_t size = (size_t)counter->said.count * sizeof *limits;

    if (memcmp(counter->said.limits, limits, size) == 0)
        return;
    memcpy(counter->said.limits, limits, size);
    if (takt_counter_find_queue(counter) == NULL)
        return;
    (void)takt_counter_queue(counter); /* its tickets continue with them */
    takt_client_ask(counter->relays->client);
}

static void free_if_idle(takt_counter *counter)
{
    if (!takt_list_empty(&counter->desks))
        return;
    for (int i = 0; i < counter->class_count; i++)
        if (counter->classes[i].count > 0)
            return;
    takt_table_remove(&counter->relays->counters, &counter->entry);
    free(counter->classes);
    free(counter);
}

/* ---- tickets ------------------------------------------------------------------------- */

static takt_ticket_class *find_class(const takt_counter *counter, takt_relay_kind kind)
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

static takt_ticket_class *class_of(takt_counter *counter, takt_relay_kind kind)
{
    takt_ticket_class *class = find_class(counter, kind), *grown;

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

takt_ticket *takt_counter_new_ticket(takt_counter *counter)
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
    takt_chain chain = chain_of(counter);

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

static bool add_ticket(takt_counter *counter, takt_queue *queue, takt_ticket_class *class)
{
    takt_relays *relays = counter->relays;
    takt_ticket *ticket =
        relays->tickets < TAKT_TICKETS_OF_ALL_MAX ? takt_counter_new_ticket(counter) : NULL;

    if (ticket == NULL)
        return false;
    takt_list_append(&class->first, &ticket->link);
    class->count++;
    relays->tickets++;
    takt_acquire_ticket(relays->client, queue, &ticket->permit, class->kind.cost, class->kind.more,
                        class->kind.priority, on_ticket);
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

static int fit(takt_counter *counter)
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
            if (queue == NULL || !add_ticket(counter, queue, class))
                return TAKT_E_NOMEM;
    }
    drop_empty_classes(counter);
    return 0;
}

/* ---- desks --------------------------------------------------------------------------- */

static void want(takt_desk *desk, int sign)
{
    for (int i = 0; i < desk->want_count; i++) {
        takt_ticket_class *class = find_class(desk->counter, desk->wants[i].kind);
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

static bool waits(const takt_desk *desk)
{
    for (int i = 0; i < desk->want_count; i++)
        if (desk->wants[i].count > 0)
            return true;
    return false;
}

/* Counts the program among those that wait, or no longer. */
static void note_presence(takt_desk *desk)
{
    takt_client *client = desk->relay->relays->client;
    takt_queue *queue;

    if (waits(desk) && desk->presence == NULL) {
        queue = takt_counter_queue(desk->counter);
        desk->presence = queue != NULL ? takt_presence_begin(client, desk->relay, queue) : NULL;
        desk->counter->programs += desk->presence != NULL;
    } else if (!waits(desk)) {
        end_presence(desk);
    }
}

/* Frees the oldest permits that the program no longer holds. */
static void free_held(takt_desk *desk, int64_t holding)
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

/* Takes over the waiters of a statement, without those that have a slot or were refused meanwhile,
 * and notes for which of them some have come.  A desk that begins to wait is the last to be served.
 */
static void take_wants(takt_desk *desk, const takt_relay_class *stated, int count)
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
    if (!waits(desk)) {
        takt_list_remove(&desk->at_counter);
        takt_list_append(&desk->counter->desks, &desk->at_counter);
    }
    memcpy(desk->wants, wants, (size_t)count * sizeof *wants);
    memcpy(desk->came, came, (size_t)count * sizeof *came);
    desk->want_count = count;
}

int takt_counter_state(takt_desk *desk, const takt_relay_class *wants, int count, int64_t holding)
{
    int64_t unseen = 0;

    want(desk, -1);
    take_wants(desk, wants, count);
    for (int i = 0; i < desk->unseen_count; i++)
        unseen += desk->unseen[i].holds;
    for (int i = 0; i < count; i++)
        if (class_of(desk->counter, wants[i].kind) == NULL) {
            desk->want_count = i;
            want(desk, 1);
            note_presence(desk);
            return TAKT_E_NOMEM;
        }
    want(desk, 1);
    note_presence(desk);
    free_held(desk, holding + unseen);
    if (fit(desk->counter) == 0)
        return 0;
    want(desk, -1);
    desk->want_count = 0;
    note_presence(desk);
    (void)fit(desk->counter);
    return TAKT_E_NOMEM;
}

void takt_counter_leave(takt_desk *desk)
{
    takt_counter *counter = desk->counter;

    want(desk, -1);
    end_presence(desk);
    free_held(desk, 0);
    takt_list_remove(&desk->at_counter);
    takt_list_remove(&desk->report);
    takt_table_remove(&desk->relay->desks, &desk->entry);
    free(desk->unseen);
    free(desk);
    (void)fit(counter);
    free_if_idle(counter);
}

/* ---- dealing ------------------------------------------------------------------------- */

static takt_relay_class *want_of(takt_desk *desk, const takt_permit *permit)
{
    takt_relay_class *class = takt_relay_find(desk->wants, desk->want_count, kind_of(permit));

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
        (takt_unseen){index, kind_of(permit), permit->hold_count > 0};
    return true;
}

void takt_counter_hold(takt_desk *desk, takt_ticket *ticket)
{
    ticket->desk = desk;
    takt_list_append(&desk->held, &ticket->link);
    desk->held_count++;
    desk->relay->relays->held++;
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
    note_presence(desk);
    desk->slots[desk->slot_count++] =
        (takt_relay_slot){permit->slot_at_us, kind_of(permit), permit->fence};
    takt_list_remove(&desk->at_counter);
    takt_list_append(&counter->desks, &desk->at_counter);
    takt_report_ask(desk);
    if (permit->hold_count > 0) {
        takt_counter_hold(desk, ticket);
    } else {
        takt_release(permit);
        free(ticket);
    }
}

/* The program's waiters leave, for that reason. */
static void fail(takt_desk *desk, int status)
{
    want(desk, -1);
    desk->want_count = 0;
    note_presence(desk);
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
    (void)fit(counter);
}

/* The numbers in force never give that cost.  Programs that have others learn them by a report, and
 * refuse their waiters themselves; they do not learn those of inner limits. */
static void refuse_cost(const takt_counter *counter, takt_ticket_class *class)
{
    const takt_queue *queue = takt_counter_find_queue(counter);
    bool inner =
        queue != NULL && counter->said.count > 1 &&
        takt_numbers_can_give(queue->numbers,
                              takt_amounts_by(takt_queue_units(queue),
                                              takt_amounts_of(class->kind.cost, class->kind.more)));

    for (takt_link *at = counter->desks.next; at != &counter->desks; at = at->next) {
        takt_desk *desk = TAKT_HOLDER(at, takt_desk, at_counter);
        takt_relay_class *wanted = takt_relay_find(desk->wants, desk->want_count, class->kind);
        if (wanted == NULL || wanted->count == 0)
            continue;
        class->wanted -= wanted->count;
        wanted->count = 0;
        note_presence(desk);
        if (!inner && takt_report_is_newer(desk))
            takt_report_ask(desk);
        else
            fail(desk, TAKT_E_COST);
    }
}

void takt_counter_drain(takt_counter *counter)
{
    send_away(counter, TAKT_E_STORE);
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
    note_presence(desk);
    takt_relay_leave(&desk->leaving, (takt_when_full)permit->left, 1);
    takt_report_ask(desk);
}

static void on_ticket(takt_permit *permit, int status)
{
    takt_ticket *ticket = (takt_ticket *)permit;
    takt_counter *counter = ticket->counter;
    takt_ticket_class *class = find_class(counter, kind_of(permit));

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
    if (fit(counter) != 0) /* without tickets nothing would come: they state their waiters again */
        send_away(counter, TAKT_E_NOMEM);
    free_if_idle(counter);
}

bool takt_counter_lost(takt_permit *permit)
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
