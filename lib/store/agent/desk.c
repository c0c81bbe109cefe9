/*
 * desk.c: see desk.h.
 */
#include "store/agent/desk.h"

#include <stdlib.h>
#include <string.h>

#include "base/integers.h"

takt_agent_desk *takt_agent_desk_new(const char *name, size_t size)
{
    takt_agent_desk *desk = calloc(1, sizeof *desk + size + 1);

    if (desk == NULL)
        return NULL;
    memcpy(desk->key, name, size);
    desk->entry.key = desk->key;
    desk->entry.size = size;
    return desk;
}

const char *takt_agent_desk_word(const takt_agent_desk *desk, size_t *size)
{
    size_t before = strlen(desk->key) + 1;

    *size = desk->entry.size - before;
    return desk->key + before;
}

void takt_agent_desk_renew(takt_agent_desk *desk, int connection)
{
    if (desk->connection == connection)
        return;
    desk->lost |= desk->holding > 0;
    desk->connection = connection;
    memset(desk->limits, 0, sizeof desk->limits);
    desk->holding = desk->next_slot_us = 0;
    desk->leased_until_us = desk->heard_us = 0;
    desk->want_count = desk->slot_count = desk->leaving.count = desk->failed = 0;
    desk->weight = 0;
    desk->newer.ledgers = 0;
    desk->unsure = false;
}

static const takt_numbers *numbers_of(const takt_store_call *call, int ledger_no)
{
    return ledger_no > 0 ? call->inner[ledger_no - 1].numbers : call->numbers;
}

/* The numbers in force of a level if they are others than the call's; NULL: they are not, or are
 * older. */
static const takt_numbers *newer_of(const takt_agent_desk *desk, const takt_store_call *call,
                                    int ledger_no)
{
    const takt_numbers *newer = &desk->newer.of[ledger_no], *stated = numbers_of(call, ledger_no);

    return desk->newer.ledgers >> ledger_no & 1 && newer->revision >= stated->revision &&
                   !takt_numbers_same(newer, stated)
               ? newer
               : NULL;
}

int64_t takt_agent_desk_lease(const takt_agent_desk *desk, const takt_store_call *call)
{
    int64_t lease_us = TAKT_NEVER;

    for (int ledger_no = 0; ledger_no <= call->inner_count; ledger_no++) {
        const takt_numbers *numbers = desk != NULL ? newer_of(desk, call, ledger_no) : NULL;
        numbers = numbers != NULL ? numbers : numbers_of(call, ledger_no);
        if (numbers->concurrency > 0)
            lease_us = takt_min(lease_us, numbers->lease_us);
    }
    return lease_us;
}

/* ---- claims -------------------------------------------------------------------------- */

/* Whether an inner limit bounds its waiters. */
static bool bounds_inside(const takt_store_call *call)
{
    for (int i = 0; i < call->inner_count; i++)
        if (call->inner[i].numbers->max_waiting > 0)
            return true;
    return false;
}

/* Which tenants the innermost line has. */
static takt_inside inside_of(const takt_claim *claim)
{
    if (claim->inner_tenant == NULL)
        return TAKT_INSIDE_NONE;
    return claim->within_turns ? TAKT_INSIDE_WITHIN : TAKT_INSIDE_ALIKE;
}

/* The weight of the tenant whose name is in the desk's.  Of nested work without tenants the claim
 * names the subject, as the agent does for itself. */
static int64_t weight_of(const takt_agent_desk *desk, const takt_claim *claim)
{
    takt_relay_parts parts;

    if (inside_of(claim) == TAKT_INSIDE_WITHIN)
        return claim->inner_weight;
    return claim->tenant != NULL && takt_relay_read_name(&parts, desk->key, desk->entry.size) &&
                   strcmp(claim->tenant, parts.tenant) == 0
               ? claim->tenant_weight
               : 0;
}

/* Adds waiters to their class.  More classes than a statement has room for come with a later
 * claim. */
static void add(takt_relay_class *classes, int *count, int64_t waiters, takt_relay_kind kind)
{
    takt_relay_class *class = takt_relay_find(classes, *count, kind);

    if (class == NULL && *count < TAKT_RELAY_CLASSES_MAX) {
        class = &classes[(*count)++];
        *class = (takt_relay_class){0, kind};
    }
    if (class != NULL)
        class->count += waiters;
}

/* The waiters in the claim, without those whose slots have arrived. */
static int count_wants(const takt_agent_desk *desk, const takt_claim *claim,
                       takt_relay_class *classes)
{
    int64_t unlisted = claim->waiting;
    int count = 0, kept = 0;

    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        unlisted -= want->count;
        add(classes, &count, want->count,
            (takt_relay_kind){want->cost, want->more, want->priority});
    }
    if (unlisted > 0 && count > 0)
        classes[count - 1].count += unlisted;
    for (int i = 0; i < desk->slot_count; i++) {
        takt_relay_class *class = takt_relay_find(classes, count, desk->slots[i].kind);
        if (class != NULL && class->count > 0)
            class->count--;
    }
    for (int i = 0; i < count; i++)
        if (classes[i].count > 0)
            classes[kept++] = classes[i];
    return kept;
}

static bool is_believed(takt_agent_desk *desk, const takt_relay_class *classes, int count)
{
    int believed = 0;

    for (int i = 0; i < desk->want_count; i++)
        believed += desk->wants[i].count > 0;
    for (int i = 0; i < count; i++) {
        const takt_relay_class *class =
            takt_relay_find(desk->wants, desk->want_count, classes[i].kind);
        if (class == NULL || class->count != classes[i].count)
            return false;
    }
    return believed == count;
}

/* The permits that the agent keeps for the program, also those of slots that have arrived. */
static int64_t holding_of(const takt_agent_desk *desk, const takt_store_call *call)
{
    if (takt_agent_desk_lease(desk, call) == TAKT_NEVER)
        return 0;
    return (desk->lost ? 0 : call->claim->holding) + desk->slot_count;
}

bool takt_agent_desk_hold(takt_agent_desk *desk, const takt_store_call *call)
{
    int64_t believed = desk->holding;

    desk->holding = holding_of(desk, call);
    return desk->holding != believed;
}

bool takt_agent_desk_state(takt_agent_desk *desk, const takt_store_call *call, int64_t now_us,
                           bool *asks)
{
    const takt_claim *claim = call->claim;
    takt_relay_class classes[TAKT_RELAY_CLASSES_MAX];
    int count = count_wants(desk, claim, classes);
    int64_t weight = weight_of(desk, claim), lease_us = takt_agent_desk_lease(desk, call);
    takt_inside inside = inside_of(claim);
    bool news = takt_agent_desk_hold(desk, call) || desk->unsure ||
                !is_believed(desk, classes, count) ||
                ((weight != desk->weight || inside != desk->inside) && count > 0);

    *asks = claim->newcomers > 0 && news;
    /* the lease begins with the last report of it */
    *asks |= desk->holding > 0 && now_us > desk->heard_us + lease_us / 4;
    memcpy(desk->wants, classes, (size_t)count * sizeof *classes);
    desk->want_count = count;
    desk->weight = weight;
    desk->inside = inside;
    desk->unsure = false;
    return news || *asks;
}

bool takt_agent_desk_arrived(takt_agent_desk *desk, const takt_relay_slot *slot)
{
    takt_relay_class *class = takt_relay_find(desk->wants, desk->want_count, slot->kind);

    if (desk->slot_count == TAKT_RELAY_SLOTS_MAX)
        return false;
    desk->slots[desk->slot_count++] = *slot;
    if (class != NULL && class->count > 0)
        class->count--;
    desk->holding += slot->fence > 0;
    return true;
}

/* ---- awards -------------------------------------------------------------------------- */

/* Gives the slots that are here.  Fencing numbers of one award follow each other: the others come
 * with the next one. */
static int give(takt_agent_desk *desk, takt_award *award)
{
    int given = 0;

    while (given < desk->slot_count && given < TAKT_RUNS_MAX) {
        const takt_relay_slot *slot = &desk->slots[given];
        if (given > 0 && slot->fence != desk->slots[0].fence + (slot->fence > 0 ? given : 0))
            break;
        award->runs[given++] = takt_run_at(slot->slot_us, 1, slot->kind.cost, slot->kind.more);
    }
    award->run_count = given;
    award->fence = given > 0 ? desk->slots[0].fence : 0;
    desk->slot_count -= given;
    memmove(desk->slots, desk->slots + given, (size_t)desk->slot_count * sizeof *desk->slots);
    return given;
}

/* Says how many of the waiters leave, and how. */
static void refuse(takt_agent_desk *desk, takt_award *award)
{
    award->refused = takt_relay_leaving(&desk->leaving);
    award->leave_count = desk->leaving.count;
    memcpy(award->leaves, desk->leaving.of, sizeof desk->leaving.of);
    desk->leaving.count = 0;
}

void takt_agent_desk_award(takt_agent_desk *desk, takt_store_call *call, int64_t now_us,
                           int64_t store_us)
{
    takt_award *award = call->award;
    int64_t lease_us = takt_agent_desk_lease(desk, call), waiting = 0;
    int given = give(desk, award);

    award->now_us = store_us;
    award->claim_again_at_us = TAKT_NEVER;
    award->in_line = 0;
    for (int i = 0; i < desk->want_count; i++) {
        waiting += desk->wants[i].count;
        if (desk->wants[i].count > 0)
            award->in_line |= 1U << desk->wants[i].kind.priority;
    }
    award->next_slot_at_us = waiting > 0 ? desk->next_slot_us : store_us;
    award->blocked_until_us = desk->blocked_until_us;
    award->waiting = takt_max(desk->waiting, waiting);
    award->workers = takt_max(desk->workers, waiting > 0);
    refuse(desk, award);
    award->least_urgent = -1;
    award->tag = 0;
    award->holding = 0;
    if (lease_us != TAKT_NEVER)
        award->holding = (desk->lost ? 0 : call->claim->holding) + given;
    award->lease_spent_us = award->holding > 0 && desk->leased_until_us > 0
                                ? takt_max(now_us + lease_us - desk->leased_until_us, 0)
                                : 0;
    award->reuses = 0;
    award->wake_count = 0;
    award->news = award->taken = award->parked = award->uncontended = award->stale = false;
    award->unlisted = award->prompt = false;
    award->crowded = bounds_inside(call); /* for all that is known here */
    award->outdated = 0;
    for (int ledger_no = 0; ledger_no <= call->inner_count; ledger_no++) {
        const takt_numbers *newer = newer_of(desk, call, ledger_no);
        if (newer == NULL)
            continue;
        award->outdated |= 1U << ledger_no;
        award->newer[ledger_no] = *newer;
    }
    desk->lost = false;
    call->status = 0;
}

bool takt_agent_desk_is_idle(const takt_agent_desk *desk)
{
    for (int i = 0; i < desk->want_count; i++)
        if (desk->wants[i].count > 0)
            return false;
    return desk->holding == 0 && desk->slot_count == 0 && desk->claiming == NULL && !desk->lost &&
           desk->failed == 0 && desk->leaving.count == 0;
}
