/*
 * Workers whose claims keep the rules of inner limits as well, and claim again when their awards
 * say.
 */
#ifndef TAKT_TESTS_CORE_SUBS_H
#define TAKT_TESTS_CORE_SUBS_H

#include <stdio.h>

#include "core/books.h"
#include "core/tenant_name.h"

#define INNER_MAX 100
#define SUBS_MAX  400
#define PLACES    24 /* in each inner line */

/* The waiters of one worker for one subject. */
typedef struct sub {
    uint64_t worker;
    char tenant[8];
    int inner;   /* -1: it has none */
    int between; /* of the ledger between that and the outermost one; -1: there is none */
    int64_t count, again_us, starts;
    int64_t far_us;     /* its claims come so much later than others */
    const char *inside; /* its tenant in the innermost line; NULL: that has none */
    int32_t inner_weight;
    bool alike; /* it is that of the outermost line, too */
} sub;

static book b;
static takt_ledger inner[INNER_MAX];
static takt_place inner_lines[INNER_MAX][PLACES];
static takt_tenant inner_tenants[INNER_MAX][PLACES];
static takt_numbers inner_limit;
static sub subs[SUBS_MAX];
static int sub_count;
static taken slots[INNER_MAX][4000];
static int slot_counts[INNER_MAX];
static int64_t claims;

static inline void set_up(takt_numbers outer, takt_numbers limit)
{
    open_book(&b, outer);
    inner_limit = limit;
    sub_count = 0;
    claims = 0;
    memset(slot_counts, 0, sizeof slot_counts);
    for (int i = 0; i < INNER_MAX; i++) {
        inner[i] = (takt_ledger){.line = inner_lines[i],
                                 .line_capacity = PLACES,
                                 .tenants = inner_tenants[i],
                                 .tenant_capacity = PLACES};
        takt_ledger_init(&inner[i], &inner_limit, NOW);
    }
}

static inline sub *add(uint64_t worker, int inner_at, int64_t count, int64_t first_us)
{
    sub *added = &subs[sub_count++];

    *added = (sub){
        .worker = worker, .inner = inner_at, .between = -1, .count = count, .again_us = first_us};
    snprintf(added->tenant, sizeof added->tenant, "k%d", inner_at);
    return added;
}

/* Workers 1 to count have work of one key; the claims of the first ones always come first. */
static inline void add_workers_of_a_key(int count)
{
    for (int i = 0; i < count; i++)
        add((uint64_t)i + 1, 0, 1000000, 0)->far_us = i * 2 * MS;
}

/* Work of the key k0 for a tenant: one worker more has it. */
static inline sub *add_tenant(uint64_t worker, const char *tenant, int32_t weight)
{
    sub *added = add(worker, 0, 1000000, 0);

    added->inside = tenant;
    added->inner_weight = weight;
    return added;
}

static inline void note(sub *claimer)
{
    for (int i = 0; i < b.award.run_count; i++)
        for (int64_t j = 0; j < b.award.runs[i].count; j++) {
            int64_t slot_us = takt_run_slot(&b.award.runs[i], j);
            if (claimer->inner >= 0)
                slots[claimer->inner][slot_counts[claimer->inner]++] = (taken){slot_us, 1};
            claimer->count--;
            claimer->starts++;
        }
}

static inline void claim(sub *claimer, int64_t at_us)
{
    takt_ledger *levels[] = {claimer->inner >= 0 ? &inner[claimer->inner] : NULL,
                             claimer->between >= 0 ? &inner[claimer->between] : NULL};
    takt_claim claim = {.worker = takt_tenant_worker(claimer->worker, claimer->tenant),
                        .process = claimer->worker,
                        .seq = ++b.seq,
                        .waiting = claimer->count,
                        .tenant = claimer->tenant,
                        .tenant_weight = 1,
                        .inner_tenant = claimer->inside,
                        .inner_weight = claimer->inner_weight,
                        .within_turns = claimer->inside && !claimer->alike,
                        .want_count = claimer->count > 0};

    claim.worker = takt_tenant_worker(claim.worker, claimer->inside);
    claim.wants[0] =
        (takt_want){.count = claimer->count, .latest_us = TAKT_NEVER, .cost = 1, .priority = 5};
    b.ledger.inner = levels;
    b.ledger.inner_count = (claimer->inner >= 0) + (claimer->between >= 0);
    send_claim(&b, at_us, &claim);
    b.ledger.inner_count = 0;
    claims++;
    note(claimer);
    claimer->again_us = claimer->count == 0 || b.award.claim_again_at_us == TAKT_NEVER
                            ? TAKT_NEVER
                            : takt_max(b.award.claim_again_at_us - NOW, at_us + MS);
}

/* Each subject claims when its award says, a millisecond or so later. */
static inline void run_until(int64_t until_us)
{
    for (;;) {
        sub *next = &subs[0];
        for (int i = 1; i < sub_count; i++)
            if (subs[i].again_us < next->again_us)
                next = &subs[i];
        if (next->again_us > until_us)
            return;
        claim(next, next->again_us + next->far_us + (claims * 7919) % 2000);
    }
}

static inline void check_all(void)
{
    check_never_over(&b);
    for (int i = 0; i < INNER_MAX; i++)
        cr_assert_eq(broken_promise(&inner_limit.rules[0], slots[i], slot_counts[i]), -1,
                     "inner limit %d", i);
}

/* The slots of a subject in a time after NOW. */
static inline int count_between(int inner_at, int64_t from_us, int64_t till_us)
{
    int count = 0;

    for (int i = 0; i < slot_counts[inner_at]; i++)
        count += slots[inner_at][i].slot_us >= NOW + from_us &&
                 slots[inner_at][i].slot_us < NOW + till_us;
    return count;
}

#endif
