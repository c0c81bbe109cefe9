/*
 * holders.c: see holders.h.
 */
#include "core/holders.h"

#include <string.h>

#include "base/integers.h"

/* The index where the worker is listed, or belongs. */
static int find(const takt_ledger *ledger, uint64_t worker)
{
    int from = 0, to = ledger->holder_count;

    while (from < to) {
        int middle = from + (to - from) / 2;
        if (ledger->holders[middle].worker < worker)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool is_at(const takt_ledger *ledger, int at, uint64_t worker)
{
    return at < ledger->holder_count && ledger->holders[at].worker == worker;
}

static int64_t held_at(const takt_ledger *ledger, int at, uint64_t worker)
{
    return is_at(ledger, at, worker) ? ledger->holders[at].held : 0;
}

int64_t takt_holders_held(const takt_ledger *ledger)
{
    int64_t held = 0;

    for (int i = 0; i < ledger->holder_count; i++)
        held += ledger->holders[i].held;
    return held;
}

int64_t takt_holders_free(const takt_ledger *ledger)
{
    int64_t held;

    if (ledger->numbers->concurrency == 0)
        return TAKT_NEVER;
    held = takt_holders_held(ledger);
    return held < ledger->numbers->concurrency ? ledger->numbers->concurrency - held : 0;
}

/* Records what a worker holds. A worker that holds nothing is not listed. */
static void set(takt_ledger *ledger, int64_t now_us, int at, const takt_claim *claim, int64_t held)
{
    takt_holder *here = &ledger->holders[at];
    bool listed = is_at(ledger, at, claim->worker);
    size_t behind = (size_t)(ledger->holder_count - at);

    if (held > 0 && !listed) {
        memmove(here + 1, here, behind * sizeof *here);
        ledger->holder_count++;
    } else if (held == 0 && listed) {
        memmove(here, here + 1, (behind - 1) * sizeof *here);
        ledger->holder_count--;
    }
    if (held > 0) {
        int64_t expires_at_us = now_us + takt_max(ledger->numbers->lease_us, ledger->lease_min_us);
        *here = (takt_holder){claim->worker, claim->seq, held, expires_at_us};
        if (ledger->leased_until_us < expires_at_us)
            ledger->leased_until_us = expires_at_us;
    } else if (ledger->holder_count == 0) {
        ledger->leased_until_us = 0;
    }
}

int64_t takt_holders_accepted(const takt_ledger *ledger, const takt_claim *claim, int64_t holding)
{
    int64_t known = held_at(ledger, find(ledger, claim->worker), claim->worker);
    int64_t unheld = takt_holders_free(ledger); /* TAKT_NEVER without permits */

    return holding > known && holding - known > unheld ? known + unheld : holding;
}

int64_t takt_holders_state(takt_ledger *ledger, int64_t now_us, const takt_claim *claim)
{
    int64_t held = takt_holders_accepted(ledger, claim, claim->holding);

    takt_holders_record(ledger, now_us, claim, held);
    return held;
}

void takt_holders_record(takt_ledger *ledger, int64_t now_us, const takt_claim *claim, int64_t held)
{
    if (ledger->numbers->concurrency > 0)
        set(ledger, now_us, find(ledger, claim->worker), claim, held);
}

void takt_holders_give(takt_ledger *ledger, int64_t now_us, const takt_claim *claim, int64_t count)
{
    int at = find(ledger, claim->worker);

    set(ledger, now_us, at, claim, held_at(ledger, at, claim->worker) + count);
}

int64_t takt_holders_next_fence(const takt_ledger *ledger, int64_t now_us)
{
    return ledger->fence < now_us ? now_us : ledger->fence + 1;
}

int64_t takt_holders_over_at(const takt_ledger *ledger, int64_t until_us)
{
    int64_t at_us = TAKT_NEVER;

    for (int i = 0; i < ledger->holder_count; i++)
        at_us = takt_min(at_us, ledger->holders[i].expires_at_us + 1);
    return at_us < until_us ? at_us : TAKT_NEVER;
}

void takt_holders_tidy(takt_ledger *ledger, int64_t now_us)
{
    /* not the present lease: permits given under a longer one keep it */
    int64_t latest_us = now_us + TAKT_LEASE_MAX_US;
    int kept = 0;

    for (int i = 0; i < ledger->holder_count; i++) {
        takt_holder holder = ledger->holders[i];
        if (holder.expires_at_us > latest_us)
            holder.expires_at_us = latest_us;
        if (holder.expires_at_us >= now_us && ledger->numbers->concurrency > 0)
            ledger->holders[kept++] = holder;
    }
    ledger->holder_count = kept;
    if (kept == 0)
        ledger->leased_until_us = 0;
    else if (ledger->leased_until_us > latest_us)
        ledger->leased_until_us = latest_us;
}

bool takt_holders_is_stale(const takt_ledger *ledger, const takt_claim *claim)
{
    int at = find(ledger, claim->worker);

    return is_at(ledger, at, claim->worker) && ledger->holders[at].seq >= claim->seq;
}
