/*
 * wake_next.c: see wake_next.h.
 */
#include "core/wake_next.h"

#include "base/integers.h"
#include "core/holders.h"
#include "core/line.h"
#include "core/tenant_turns.h"
#include "core/tenants.h"
#include "core/wakes.h"

/* The places in line of one priority, without those set aside. */
typedef struct rank {
    int64_t weight;
    int64_t wanting; /* tokens, and so at least as many permits */
} rank;

static rank count_rank(const takt_ledger *ledger, int at)
{
    int8_t priority = ledger->line[at].priority;
    rank counted = {0, 0};

    for (; at < ledger->line_count && ledger->line[at].priority == priority; at++)
        if (!ledger->line[at].aside) {
            counted.weight += ledger->line[at].weight;
            counted.wanting += ledger->line[at].wanting;
        }
    return counted;
}

/* Wakes the workers that lack a permit and would get one now, after those before them have taken
 * theirs. A worker that is woken without need would wake the next one without need. */
static void wake_plain(const takt_ledger *ledger, uint64_t claimer, int ledger_no,
                       takt_award *award)
{
    int64_t left = takt_holders_free(ledger), share = 0, before = 0;
    rank all = {0, 0};

    for (int i = 0; i < ledger->line_count && award->wake_count < TAKT_WAKES_MAX; i++) {
        const takt_place *place = &ledger->line[i];
        int64_t kept, others;
        if (i == 0 || place->priority != place[-1].priority) {
            left -= all.wanting;
            all = count_rank(ledger, i);
            share = all.weight > 0 ? ledger->numbers->concurrency / all.weight : 0;
            before = 0;
        }
        if (place->aside)
            continue;
        kept = before * (share > 0 ? share : 1);
        before += takt_line_shares(place);
        others = all.wanting - place->wanting;
        if (left <= (kept < others ? kept : others))
            return;
        if (place->lacking && place->worker != claimer)
            takt_wakes_add(award, place, ledger_no);
    }
}

/* The same in a line with tenants. */
static void wake_tenants(const takt_ledger *ledger, uint64_t claimer, int ledger_no,
                         takt_award *award)
{
    int64_t free = takt_holders_free(ledger), concurrency = ledger->numbers->concurrency;
    int64_t ahead[TAKT_TENANTS_MAX], before[TAKT_TENANTS_MAX], urgent = 0, same = 0;
    int priority = -1;

    takt_tenants_count(ledger);
    for (int i = 0; i < ledger->tenant_count; i++) {
        before[i] = 0;
        ahead[i] = -1;
    }
    for (int at = 0; at < ledger->line_count && free > urgent; at++) {
        const takt_place *place = &ledger->line[at];
        const takt_tenant *mine = takt_tenant_of(ledger, at);
        int index = place->tenant - 1;
        int64_t weights, kept;
        if (place->priority != priority) {
            urgent += same;
            same = 0;
            priority = place->priority;
        }
        if (place->aside)
            continue;
        same += place->wanting;
        weights = takt_tenants_weights(ledger, priority, -1);
        kept = before[index] * takt_tenant_share(mine, concurrency, weights);
        before[index] += takt_line_shares(place);
        if (!place->lacking || place->worker == claimer)
            continue;
        if (ahead[index] < 0)
            ahead[index] = takt_tenant_left_to_others(ledger, index, TAKT_UNIT_TOKENS, concurrency,
                                                      weights, 0);
        kept = takt_min(kept, mine->wanting.of[TAKT_UNIT_TOKENS] - place->wanting);
        if (free - urgent - ahead[index] > kept)
            takt_wakes_add(award, place, ledger_no);
    }
}

void takt_wake_next(const takt_ledger *ledger, uint64_t claimer, int ledger_no, takt_award *award)
{
    if (ledger->numbers->concurrency > 0 && ledger->tenant_count > 0)
        wake_tenants(ledger, claimer, ledger_no, award);
    else if (ledger->numbers->concurrency > 0)
        wake_plain(ledger, claimer, ledger_no, award);
}
