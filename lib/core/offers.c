/*
 * offers.c: decides when a ledger asks for offers, which offers it accepts, and which claimer gets
 * one (offers.h). The scheduler decides which slot it offers.
 */
#include "core/offers.h"

#include "base/integers.h"

static void drop(takt_ledger *ledger, int at)
{
    takt_offers *offers = &ledger->offers;

    offers->count--;
    for (; at < offers->count; at++)
        offers->slots[at] = offers->slots[at + 1];
}

/* A slot that also needs a permit, or takes further units, is not handed on. */
static bool are_none(const takt_numbers *numbers)
{
    return numbers->concurrency > 0 || takt_numbers_count_more(numbers);
}

static bool can_be_used(const takt_ledger *ledger, int64_t now_us, const takt_offer *offer)
{
    return offer->slot_us >= takt_max(now_us, ledger->blocked_until_us) &&
           offer->slot_us <= now_us + TAKT_LOOKAHEAD_MAX_US;
}

void takt_offers_tidy(takt_ledger *ledger, int64_t now_us)
{
    takt_offers *offers = &ledger->offers;

    for (int i = offers->count - 1; i >= 0; i--)
        if (!can_be_used(ledger, now_us, &offers->slots[i]))
            drop(ledger, i);
    if (offers->asked_at_us > now_us ||
        offers->asked_at_us + ledger->numbers->lookahead_us < now_us) {
        offers->asked_at_us = 0;
        offers->asker = 0;
    }
}

/* The tokens that other workers want with a higher priority than `priority`. */
static int64_t wanted_above(const takt_ledger *ledger, uint64_t worker, int priority)
{
    int64_t tokens = 0;

    for (int i = 0; i < ledger->line_count && ledger->line[i].priority < priority; i++)
        if (!ledger->line[i].aside && ledger->line[i].worker != worker)
            tokens += ledger->line[i].wanting;
    return tokens;
}

bool takt_offers_accept(takt_ledger *ledger, int64_t now_us, const takt_claim *claim)
{
    takt_offers *offers = &ledger->offers;
    int64_t offered = 0;

    if (claim->offer.cost == 0 || offers->asked_at_us == 0 || offers->count == TAKT_OFFERS_MAX ||
        are_none(ledger->numbers) || !can_be_used(ledger, now_us, &claim->offer))
        return false;
    for (int i = 0; i < offers->count; i++)
        offered += offers->slots[i].cost;
    if (wanted_above(ledger, claim->worker, claim->offer.priority) <= offered)
        return false;
    offers->slots[offers->count++] = claim->offer;
    return true;
}

/* The number of places of other workers with a lower priority than this place. 0 if a place of
 * another worker has a higher priority. */
static int64_t count_behind(const takt_ledger *ledger, const takt_place *place)
{
    int64_t behind = 0;

    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *other = &ledger->line[i];
        if (other->aside || other->worker == place->worker)
            continue;
        if (other->priority < place->priority)
            return 0;
        behind += other->priority > place->priority;
    }
    return behind;
}

bool takt_offers_ask(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                     const takt_place *place)
{
    const takt_numbers *numbers = ledger->numbers;
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us), behind, slots, first_us;

    if (claim->distant || place->accepted > 0 || ledger->offers.asked_at_us > 0 ||
        ledger->offers.count > 0 || are_none(numbers) || ledger->tenant_count > 0)
        return false;
    behind = count_behind(ledger, place);
    if (behind == 0)
        return false;
    slots =
        takt_amounts_least(takt_numbers_throughput(numbers, &ledger->state, numbers->lookahead_us));
    if (slots < TAKT_OFFERS_SLOTS_MIN || behind > TAKT_OFFERS_WORKERS_MAX * slots)
        return false;
    first_us =
        takt_numbers_earliest(numbers, &ledger->state, from_us, takt_amounts_of_cost(place->need));
    if (first_us <= from_us + numbers->lookahead_us / TAKT_OFFERS_NEAR ||
        first_us > from_us + 2 * numbers->lookahead_us) /* no worker has slots that far */
        return false;
    ledger->offers.asked_at_us = now_us;
    ledger->offers.asker = place->worker;
    return true;
}

bool takt_offers_are_awaited(const takt_ledger *ledger, int64_t now_us, const takt_place *place)
{
    int64_t asked_at_us = ledger->offers.asked_at_us;

    return asked_at_us > 0 && ledger->offers.asker == place->worker &&
           asked_at_us + ledger->numbers->lookahead_us / TAKT_OFFERS_AWAITED >= now_us &&
           count_behind(ledger, place) > 0;
}

bool takt_offers_take(takt_ledger *ledger, int64_t from_us, const takt_want *want, takt_run *run)
{
    takt_offers *offers = &ledger->offers;
    int best = -1;

    if (are_none(ledger->numbers))
        return false;
    for (int i = 0; i < offers->count; i++)
        if (offers->slots[i].cost == want->cost && offers->slots[i].slot_us >= from_us &&
            offers->slots[i].slot_us <= want->latest_us &&
            (best < 0 || offers->slots[i].slot_us < offers->slots[best].slot_us))
            best = i;
    if (best < 0)
        return false;
    *run = takt_run_at(offers->slots[best].slot_us, 1, want->cost, want->more);
    drop(ledger, best);
    return true;
}
