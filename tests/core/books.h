/*
 * A ledger with what the tests keep beside it: its line, the last award, and every slot that was
 * ever awarded.
 */
#ifndef TAKT_TESTS_CORE_BOOKS_H
#define TAKT_TESTS_CORE_BOOKS_H

#include <string.h>

#include "core/ledger.h"
#include "core/limits.h"

#define LINE_MAX    400
#define HOLDERS_MAX 100
#define TENANTS_MAX (TAKT_TENANTS_MAX + 2 * TAKT_PRIORITIES)
#define TAKEN_MAX   20000

typedef struct book {
    takt_numbers limit;
    takt_ledger ledger;
    takt_place line[LINE_MAX];
    takt_holder holders[HOLDERS_MAX];
    takt_tenant tenants[TENANTS_MAX];
    int64_t seq;
    takt_award award;
    int64_t given;    /* slots of the last award */
    int64_t first_us; /* the first of them after NOW, -1 if there is none */
    taken slots[TAKEN_MAX];
    int slot_count;
} book;

static inline void open_book(book *b, takt_numbers limit)
{
    *b = (book){.limit = limit};
    b->ledger.line = b->line;
    b->ledger.line_capacity = LINE_MAX;
    b->ledger.holders = b->holders;
    b->ledger.holder_capacity = HOLDERS_MAX;
    b->ledger.tenants = b->tenants;
    b->ledger.tenant_capacity = TENANTS_MAX;
    takt_ledger_init(&b->ledger, &b->limit, NOW);
}

static inline void note_slots(book *b)
{
    b->given = 0;
    b->first_us = -1;
    for (int i = 0; i < b->award.run_count; i++)
        for (int64_t j = 0; j < b->award.runs[i].count; j++) {
            int64_t slot_us = takt_run_slot(&b->award.runs[i], j);
            cr_assert_lt(b->slot_count, TAKEN_MAX);
            b->slots[b->slot_count++] = (taken){slot_us, b->award.runs[i].cost};
            if (b->given++ == 0)
                b->first_us = slot_us - NOW;
        }
}

/* A claim as it is, at that time after NOW. */
static inline void send_claim(book *b, int64_t at_us, const takt_claim *claim)
{
    takt_ledger_claim(&b->ledger, NOW + at_us, claim, &b->award);
    note_slots(b);
}

/* The work of one request that took `cost` has used that much; 0: it did not begin. */
static inline void settle_one(takt_ledger *ledger, int64_t now_us, int64_t slot_us, int64_t cost,
                              int64_t used)
{
    takt_ledger_settle(ledger, now_us, slot_us, (takt_amounts){{cost, 1}},
                       (takt_amounts){{used, used > 0}});
}

/* A worker's next claim: waiters of one sort. */
static inline void say(book *b, int64_t at_us, uint64_t worker, int priority, int32_t cost,
                       int64_t count)
{
    takt_claim claim = {.worker = worker,
                        .seq = ++b->seq,
                        .waiting = count,
                        .newcomers = count,
                        .want_count = count > 0};

    claim.wants[0] =
        (takt_want){.count = count, .latest_us = TAKT_NEVER, .cost = cost, .priority = priority};
    send_claim(b, at_us, &claim);
}

/* Claims at each announced time, and notes all slots up to end_us. */
static inline void work_alone(book *b, uint64_t worker, int64_t at_us, int64_t end_us)
{
    while (at_us < end_us) {
        say(b, at_us, worker, 5, 1, 1000);
        int64_t next_us = b->award.claim_again_at_us - NOW;
        at_us = next_us < at_us + TAKT_KEEPALIVE_US ? next_us : at_us + TAKT_KEEPALIVE_US;
    }
}

static inline const takt_place *place_of(const book *b, uint64_t worker, int priority)
{
    for (int i = 0; i < b->ledger.line_count; i++)
        if (b->line[i].worker == worker && b->line[i].priority == priority)
            return &b->line[i];
    return NULL;
}

/* The workers of the line as decimal digits, its first the leftmost. */
static inline int line_digits(const book *b)
{
    int digits = 0;

    for (int i = 0; i < b->ledger.line_count; i++)
        digits = digits * 10 + (int)b->line[i].worker;
    return digits;
}

static inline void check_never_over(book *b)
{
    for (int i = 0; i < b->limit.rule_count; i++) {
        int broken = broken_promise(&b->limit.rules[i], b->slots, b->slot_count);
        cr_assert_eq(broken, -1, "rule %d is broken by slot %d of %d", i, broken, b->slot_count);
    }
}

#endif
