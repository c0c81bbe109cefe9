/*
 * turns.c: see turns.h.
 */
#include "scheduler/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "core/tenant_name.h"
#include "core/tenants.h"

/* ---- those in turn --------------------------------------------------------------------------- */

static takt_turn *turn_of(const takt_link *link)
{
    return TAKT_HOLDER(link, takt_turn, link);
}

static bool precedes(const takt_turn *a, const takt_turn *b)
{
    return a->tag < b->tag || (a->tag == b->tag && a->number < b->number);
}

static bool goes_before(const takt_node *a, const takt_node *b)
{
    return precedes(TAKT_HOLDER(a, takt_turn, node), TAKT_HOLDER(b, takt_turn, node));
}

void takt_turns_enter(takt_turn *turn, int priority)
{
    turn->priority = (int8_t)priority;
    turn->number = ++turn->of->last_number;
    takt_heap_add(&turn->of->order[priority], &turn->node);
    if (turn->subject)
        takt_list_append(&turn->subject->in_turn[priority], &turn->of_subject);
}

static void count_standing(takt_turn *turn, int more)
{
    turn->of->standing_count += more;
    if (turn->subject)
        turn->subject->standing += more;
}

void takt_turns_take_out(takt_turn *turn)
{
    if (turn->priority >= 0 && takt_list_empty(&turn->link))
        takt_heap_remove(&turn->of->order[turn->priority], &turn->node);
    takt_list_remove(&turn->link);
    takt_list_remove(&turn->of_subject);
    if (turn->subject && turn->priority >= 0 &&
        takt_list_empty(&turn->subject->in_turn[turn->priority]))
        turn->subject->told[turn->priority] = 0;
    count_standing(turn, -turn->stands);
    turn->stands = false;
    turn->priority = -1;
}

void takt_turns_set_tag(takt_turn *turn, int64_t tag)
{
    bool in_order = takt_list_empty(&turn->link);

    if (in_order)
        takt_heap_remove(&turn->of->order[turn->priority], &turn->node);
    turn->tag = tag;
    if (in_order)
        takt_heap_add(&turn->of->order[turn->priority], &turn->node);
}

void takt_turns_stand_in_order(takt_turn *turn)
{
    turn->stands = true;
    count_standing(turn, 1);
}

void takt_turns_stand(takt_turn *turn)
{
    takt_link *standing = &turn->of->standing[turn->priority], *next = standing;

    takt_turns_stand_in_order(turn);
    takt_heap_remove(&turn->of->order[turn->priority], &turn->node);
    while (next->previous != standing && turn->number < turn_of(next->previous)->number)
        next = next->previous;
    takt_list_append(next, &turn->link);
}

void takt_turns_step_back(takt_turn *turn)
{
    if (!turn->stands)
        return;
    turn->stands = false;
    count_standing(turn, -1);
    if (takt_list_empty(&turn->link))
        return; /* behind an agent */
    takt_list_remove(&turn->link);
    takt_heap_add(&turn->of->order[turn->priority], &turn->node);
    turn->has_waited = true;
}

takt_turn *takt_turns_first_held_up(const takt_turns *turns, int priority)
{
    const takt_node *first = turns->order[priority].first;

    return first ? TAKT_HOLDER(first, takt_turn, node) : NULL;
}

takt_turn *takt_turns_first(const takt_turns *turns, int priority)
{
    const takt_link *standing = &turns->standing[priority];
    takt_turn *first = takt_turns_first_held_up(turns, priority);

    for (const takt_link *at = standing->next; at != standing; at = at->next)
        if (!first || precedes(turn_of(at), first))
            first = turn_of(at);
    return first;
}

/* ---- who belongs to them --------------------------------------------------------------------- */

/* The turns of a limit and key, made if necessary; NULL: no memory. */
static takt_turns *turns_at(takt_scheduler *scheduler, const char *id, size_t size)
{
    takt_entry *entry = takt_table_find(&scheduler->turns, id, size);
    takt_turns *turns;

    if (entry)
        return TAKT_HOLDER(entry, takt_turns, entry);
    turns = calloc(1, sizeof *turns + size);
    if (!turns)
        return NULL;
    memcpy(turns->id, id, size);
    turns->entry.key = turns->id;
    turns->entry.size = size;
    takt_list_init(&turns->queues);
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        takt_list_init(&turns->standing[i]);
        takt_heap_init(&turns->order[i], goes_before);
    }
    takt_table_add(&scheduler->turns, &turns->entry);
    return turns;
}

static void free_if_unused(takt_scheduler *scheduler, takt_turns *turns)
{
    if (!turns || !takt_list_empty(&turns->queues))
        return;
    takt_table_remove(&scheduler->turns, &turns->entry);
    free(turns->pace.share);
    free(turns);
}

/* A queue that had no tenant so far brings what it knows of the pace. */
static void take_over(takt_turns *turns, takt_queue *queue)
{
    turns->alone += queue->loss.alone;
    turns->in_line += queue->awarded.in_line != 0;
    if (queue->loss.pace.seen.workers > turns->pace.seen.workers)
        turns->pace.seen = queue->loss.pace.seen;
    if (turns->pace.share)
        return;
    turns->pace.share = queue->loss.pace.share;
    queue->loss.pace.share = NULL;
}

static void write_key(uint64_t key[2], const takt_turns *turns, const char *tenant)
{
    key[0] = (uintptr_t)turns;
    key[1] = takt_tenant_worker(0, tenant);
}

static void forget_name(takt_scheduler *scheduler, takt_turn *turn)
{
    if (turn->by_tenant.key)
        takt_table_remove(&scheduler->tenants, &turn->by_tenant);
    turn->by_tenant.key = NULL;
}

void takt_turns_name(takt_scheduler *scheduler, takt_turn *turn, const char *tenant, bool alone)
{
    if (turn->tenant == tenant && alone == (turn->by_tenant.key != NULL))
        return;
    forget_name(scheduler, turn);
    turn->tenant = tenant;
    if (!alone)
        return;
    write_key(turn->key, turn->of, tenant);
    turn->by_tenant.key = turn->key;
    turn->by_tenant.size = sizeof turn->key;
    takt_table_add(&scheduler->tenants, &turn->by_tenant);
}

bool takt_turns_join(takt_scheduler *scheduler, const char *id, size_t size, takt_queue *queue,
                     const char *tenant)
{
    takt_turns *turns = turns_at(scheduler, id, size);
    takt_turn *turn = turns ? calloc(1, sizeof *turn) : NULL;

    if (!turn) {
        free_if_unused(scheduler, turns);
        return false;
    }
    *turn = (takt_turn){.queue = queue, .of = turns, .weight = 1, .priority = -1};
    takt_turns_name(scheduler, turn, tenant, true);
    queue->turn = turn;
    takt_list_append(&turns->queues, &turn->all);
    takt_list_init(&turn->link);
    takt_list_init(&turn->of_subject);
    take_over(turns, queue);
    return true;
}

bool takt_turns_join_subject(takt_scheduler *scheduler, takt_queue *queue)
{
    const void *key[] = {queue->turn->of, queue->nest->inner[0].ledger};
    takt_entry *entry;
    takt_subject *subject;

    if (queue->turn->subject)
        return true;
    entry = takt_table_find(&scheduler->subjects, key, sizeof key);
    subject = entry ? TAKT_HOLDER(entry, takt_subject, entry) : calloc(1, sizeof *subject);
    if (!subject)
        return false;
    if (!entry) {
        memcpy(subject->key, key, sizeof key);
        subject->entry.key = subject->key;
        subject->entry.size = sizeof key;
        for (int i = 0; i < TAKT_PRIORITIES; i++)
            takt_list_init(&subject->in_turn[i]);
        takt_table_add(&scheduler->subjects, &subject->entry);
    }
    queue->turn->subject = subject;
    subject->queues++;
    subject->standing += queue->turn->stands;
    subject->step = takt_max(subject->step, TAKT_TENANT_STEP);
    return true;
}

static void leave_subject(takt_scheduler *scheduler, takt_subject *subject)
{
    if (!subject || --subject->queues > 0)
        return;
    takt_table_remove(&scheduler->subjects, &subject->entry);
    free(subject);
}

void takt_turns_leave(takt_scheduler *scheduler, takt_queue *queue)
{
    takt_turn *turn = queue->turn;

    if (!turn)
        return;
    turn->of->alone -= queue->loss.alone;
    turn->of->in_line -= queue->awarded.in_line != 0;
    takt_turns_take_out(turn);
    forget_name(scheduler, turn);
    leave_subject(scheduler, turn->subject);
    takt_list_remove(&turn->all);
    free_if_unused(scheduler, turn->of);
}

/* The queue of work that names no tenant and is not nested: its id is that of the limit and key. */
static bool is_plain(const takt_queue *queue)
{
    return !queue->nest && !(queue->turn && queue->turn->tenant[0]);
}

takt_queue *takt_turns_next(takt_scheduler *scheduler, const char *id, size_t size,
                            const takt_queue *before)
{
    takt_entry *entry = takt_table_find(&scheduler->turns, id, size);
    const takt_turns *turns = entry ? TAKT_HOLDER(entry, takt_turns, entry) : NULL;
    const takt_link *next;

    if (!turns)
        return NULL;
    next = before && !is_plain(before) ? before->turn->all.next : turns->queues.next;
    for (; next != &turns->queues; next = next->next)
        if (!is_plain(TAKT_HOLDER(next, takt_turn, all)->queue))
            return TAKT_HOLDER(next, takt_turn, all)->queue;
    return NULL;
}

takt_turn *takt_turns_of_tenant(takt_scheduler *scheduler, const char *id, size_t size,
                                const char *tenant, const takt_turn *before)
{
    takt_entry *entry = takt_table_find(&scheduler->turns, id, size);
    uint64_t key[2];

    if (!entry)
        return NULL;
    write_key(key, TAKT_HOLDER(entry, takt_turns, entry), tenant);
    entry = before ? takt_table_next(&before->by_tenant)
                   : takt_table_find(&scheduler->tenants, key, sizeof key);
    while (entry && strcmp(TAKT_HOLDER(entry, takt_turn, by_tenant)->tenant, tenant) != 0)
        entry = takt_table_next(entry);
    return entry ? TAKT_HOLDER(entry, takt_turn, by_tenant) : NULL;
}
