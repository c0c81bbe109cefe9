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
    const takt_queue *queue = permit->hold_count > 0 ? permit->holds[0].queue : NULL;

    if (queue)
        atomic_store(&permits->workers[worker][ledger].leased_until_us,
                     queue->holding.leased_until_us);
}

void permits_taken(struct permits *permits, int worker, int ledger, const takt_permit *permit)
{
    int64_t now_us = takt_timer_now(), all = 0;

    permits_renewed(permits, worker, ledger, permit);
    atomic_fetch_add(&permits->taken[ledger], 1);
    atomic_fetch_add(&permits->workers[worker][ledger].held, 1);
    for (int i = 0; i < HOLDERS_MAX; i++)
        if (now_us < atomic_load(&permits->workers[i][ledger].leased_until_us))
            all += atomic_load(&permits->workers[i][ledger].held);
    for (long long most = atomic_load(&permits->most[ledger]); all > most;)
        if (atomic_compare_exchange_weak(&permits->most[ledger], &most, all))
            break;
}

void permits_given_back(struct permits *permits, int worker, int ledger)
{
    atomic_fetch_sub(&permits->workers[worker][ledger].held, 1);
}
