/*
 * permits.c: see permits.h.
 */
#include "faults/permits.h"

#include "client/timer.h"
#include "scheduler/queue.h"

void permits_begin(struct permits *permits, int worker)
{
    for (int i = 0; i < LEDGERS_MAX; i++)
        atomic_store(&permits->workers[worker][i].held, 0);
}

void permits_renewed(struct permits *permits, int worker, int ledger, const takt_permit *permit)
{
    if (permit->hold == TAKT_HOLD_HELD)
        atomic_store(&permits->workers[worker][ledger].leased_until_us,
                     permit->queue->holding.leased_until_us);
}

/* The permits of all workers at one instant. A worker that is delayed while it adds them up could
 * count a permit twice: for its old and for its new holder. */
static long long held_by_all(struct permits *permits, int ledger)
{
    long long all;
    unsigned before;

    do {
        int64_t now_us;
        before = atomic_load(&permits->changes);
        now_us = takt_timer_now();
        all = 0;
        for (int i = 0; i < HOLDERS_MAX; i++)
            if (now_us < atomic_load(&permits->workers[i][ledger].leased_until_us))
                all += atomic_load(&permits->workers[i][ledger].held);
    } while (atomic_load(&permits->changes) != before);
    return all;
}

void permits_taken(struct permits *permits, int worker, int ledger, const takt_permit *permit)
{
    long long all;

    permits_renewed(permits, worker, ledger, permit);
    atomic_fetch_add(&permits->taken[ledger], 1);
    atomic_fetch_add(&permits->changes, 1);
    atomic_fetch_add(&permits->workers[worker][ledger].held, 1);
    all = held_by_all(permits, ledger);
    for (long long max = atomic_load(&permits->max[ledger]); all > max;)
        if (atomic_compare_exchange_weak(&permits->max[ledger], &max, all))
            break;
}

void permits_given_back(struct permits *permits, int worker, int ledger)
{
    atomic_fetch_sub(&permits->workers[worker][ledger].held, 1);
    atomic_fetch_add(&permits->changes, 1);
}
