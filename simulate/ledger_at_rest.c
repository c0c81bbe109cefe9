/*
 * ledger_at_rest.c: see ledger_at_rest.h. Decides how the ledger is kept between calls; the fleet
 * decides when calls come.
 */
#include "simulate/ledger_at_rest.h"

#include <assert.h>
#include <stdlib.h>

#include "core/ledger_text.h"

/* Makes room for another worker's places in line and those in the text; false: no memory. */
static bool reserve_line(takt_fleet *fleet)
{
    takt_ledger *ledger = &fleet->ledger;
    takt_place *line;
    int count = fleet->text_size > 0 ? takt_ledger_text_places(fleet->text, fleet->text_size) : 0;

    if (count < ledger->line_count)
        count = ledger->line_count;
    if (count + TAKT_PRIORITIES <= ledger->line_capacity)
        return true;
    count = 2 * (count + TAKT_PRIORITIES);
    line = realloc(ledger->line, (size_t)count * sizeof *line);
    if (!line)
        return false;
    ledger->line = line;
    ledger->line_capacity = count;
    return true;
}

/* The same for holders. */
static bool reserve_holders(takt_fleet *fleet)
{
    takt_ledger *ledger = &fleet->ledger;
    takt_holder *holders;
    int count = fleet->text_size > 0 ? takt_ledger_text_holders(fleet->text, fleet->text_size) : 0;

    if (count < ledger->holder_count)
        count = ledger->holder_count;
    if (count < ledger->holder_capacity)
        return true;
    count = 2 * (count + 1);
    holders = realloc(ledger->holders, (size_t)count * sizeof *holders);
    if (!holders)
        return false;
    ledger->holders = holders;
    ledger->holder_capacity = count;
    return true;
}

/* Makes the ledger ready for a call from a worker whose policy has `numbers`. */
static bool wake_ledger(takt_fleet *fleet, const takt_numbers *numbers, int64_t now_us)
{
    if (now_us >= fleet->expires_at_us)
        fleet->text_size = 0;
    if (!reserve_line(fleet) || !reserve_holders(fleet))
        return false;
    if (fleet->unwritten) {
        takt_ledger_adopt(&fleet->ledger, numbers, now_us);
    } else if (fleet->text_size == 0) {
        takt_memory_pages_close(&fleet->pages);
        takt_ledger_init(&fleet->ledger, numbers, now_us);
    } else if (takt_ledger_decode(&fleet->ledger, numbers, &fleet->kept, now_us, fleet->text,
                                  fleet->text_size) < 0) {
        takt_memory_pages_close(&fleet->pages);
        fleet->damaged++;
    }
    return true;
}

/* Writes the ledger as text, or drops it if it has no more information than a fresh one. */
static bool rest_ledger(takt_fleet *fleet, int64_t now_us)
{
    size_t size = takt_ledger_text_size(fleet->ledger.line_count, fleet->ledger.holder_count);

    assert(fleet->pages.pages.trouble != TAKT_PAGES_DAMAGED);
    if (fleet->pages.pages.trouble == TAKT_PAGES_NOMEM)
        return false;
    takt_memory_pages_settle(&fleet->pages, true);
    /* the caller's numbers may be freed before the next call */
    if (fleet->ledger.numbers != &fleet->kept) {
        fleet->kept = *fleet->ledger.numbers;
        fleet->ledger.numbers = &fleet->kept;
    }
    if (fleet->unwritten)
        return true;
    if (size > fleet->text_capacity) {
        free(fleet->text);
        fleet->text_size = 0;
        fleet->text_capacity = 2 * size;
        fleet->text = malloc(fleet->text_capacity);
        if (!fleet->text)
            return false;
    }
    fleet->text_size = 0;
    fleet->expires_at_us = takt_ledger_expires_at(&fleet->ledger);
    if (fleet->expires_at_us > now_us)
        fleet->text_size = takt_ledger_encode(&fleet->ledger, fleet->text, fleet->text_capacity);
    return true;
}

bool takt_sim_store_run(takt_fleet *fleet, takt_sim_call *call)
{
    int64_t now_us = fleet->now_us + fleet->store_clock_us;

    if (!wake_ledger(fleet, call->numbers, now_us))
        return false;
    call->now_us = now_us;
    switch (call->op) {
    case TAKT_SIM_CLAIM:
        takt_ledger_claim(&fleet->ledger, now_us, call->claim, call->award);
        takt_ledger_tell_newer(&fleet->ledger, call->numbers, call->award);
        break;
    case TAKT_SIM_TRY:
        call->granted = takt_ledger_try(&fleet->ledger, now_us, call->cost, &call->retry_at_us);
        break;
    case TAKT_SIM_SETTLE:
        takt_ledger_settle(&fleet->ledger, now_us, takt_run_slot(&call->unused, 0),
                           call->unused.count, call->unused.count * call->unused.cost, 0);
        break;
    case TAKT_SIM_CHARGE:
        takt_ledger_settle(&fleet->ledger, now_us, now_us, 0, 0, call->cost);
        break;
    case TAKT_SIM_BLOCK:
        takt_ledger_block(&fleet->ledger, now_us, call->for_us, NULL);
        break;
    case TAKT_SIM_PENALIZE:
        takt_ledger_penalize(&fleet->ledger, now_us, call->for_us, NULL);
        break;
    case TAKT_SIM_UNBLOCK:
        takt_ledger_unblock(&fleet->ledger, now_us);
        break;
    case TAKT_SIM_RESET:
        takt_ledger_reset(&fleet->ledger, now_us);
        break;
    case TAKT_SIM_PEEK:
        break;
    }
    if (call->op != TAKT_SIM_CLAIM)
        takt_ledger_peek(&fleet->ledger, now_us, &call->standing);
    return rest_ledger(fleet, now_us);
}

void takt_fleet_lose_state(takt_fleet *fleet)
{
    fleet->text_size = 0;
    takt_memory_pages_close(&fleet->pages);
    takt_ledger_init(&fleet->ledger, fleet->ledger.numbers, fleet->now_us + fleet->store_clock_us);
}

void takt_sim_store_close(takt_fleet *fleet)
{
    takt_memory_pages_close(&fleet->pages);
    free(fleet->text);
    free(fleet->ledger.line);
    free(fleet->ledger.holders);
}
