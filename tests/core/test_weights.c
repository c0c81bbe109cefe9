/*
 * Weights: a worker that claims for several processes gets a share of each turn for each of them.
 */
#include "core/weights.h"

#include "base/random.h"
#include "core/holders.h"
#include "core/ledger_text.h"

#define WORKERS 12

/* Workers that always want more, and claim at their announced times, late by up to `late_us`. */
typedef struct fleet {
    int64_t weights[WORKERS]; /* until the first 0 */
    int32_t costs[WORKERS];
    int64_t late_us;
    int64_t taken[WORKERS]; /* tokens */
} fleet;

static void run_fleet(book *b, fleet *f, int64_t until_us)
{
    int64_t again_us[WORKERS] = {0};
    uint64_t random = 1;
    int count = 0;

    while (count < WORKERS && f->weights[count] > 0)
        count++;
    for (;;) {
        int next = 0;
        int64_t at_us;
        takt_want want = {100000, TAKT_NEVER, 1, 5, {{0}}};
        for (int i = 1; i < count; i++)
            next = again_us[i] < again_us[next] ? i : next;
        at_us = again_us[next];
        if (at_us > until_us)
            return;
        want.cost = f->costs[next];
        b->slot_count = 0;
        claim_for(b, at_us, next, f->weights[next], want, 0);
        for (int i = 0; i < b->slot_count; i++)
            f->taken[next] += b->slots[i].slot_us <= NOW + until_us ? b->slots[i].cost : 0;
        again_us[next] = takt_min(b->award.claim_again_at_us - NOW, at_us + TAKT_KEEPALIVE_US);
        if (f->late_us > 0)
            again_us[next] += takt_random_below(&random, f->late_us);
    }
}

/* All that there is was given, and each got its part of it to 2 %. */
static void check_parts(const char *name, const fleet *f, int64_t tokens)
{
    int64_t weight = 0, all = 0;

    for (int i = 0; i < WORKERS; i++) {
        weight += f->weights[i];
        all += f->taken[i];
    }
    cr_expect(all >= tokens && all <= tokens + f->costs[0], "%s: %" PRId64 " of %" PRId64, name,
              all, tokens);
    for (int i = 0; i < WORKERS; i++)
        cr_expect(f->taken[i] * weight * 100 >= tokens * f->weights[i] * 98 &&
                      f->taken[i] * weight * 100 <= tokens * f->weights[i] * 102,
                  "%s: worker %d of weight %" PRId64 " took %" PRId64 " of %" PRId64, name, i,
                  f->weights[i], f->taken[i], tokens);
}

Test(weights, each_worker_gets_its_part)
{
    static const struct {
        const char *name;
        int64_t tokens; /* a second */
        int64_t seconds;
        fleet fleet;
    } rows[] = {
        {"a share is one token", 100, 650, {.weights = {64, 1}, .costs = {1, 1}}},
        {"a share is many tokens", 10000, 60, {.weights = {64, 1}, .costs = {1, 1}}},
        {"a turn longer than half a lookahead", 1000, 200, {.weights = {9, 1}, .costs = {1, 1}}},
        {"a turn longer than many lookaheads",
         10,
         4000,
         {.weights = {50, 30, 20}, .costs = {1, 1, 1}}},
        {"late ones",
         1000,
         400,
         {.weights = {8, 5, 2, 1, 1}, .costs = {1, 1, 1, 1, 1}, .late_us = 30000}},
        {"later than a turn", 1000, 400, {.weights = {64, 1}, .costs = {1, 1}, .late_us = 10000}},
        {"one among many small ones",
         1000,
         400,
         {.weights = {40, 1, 1, 1, 1, 1, 1}, .costs = {1, 1, 1, 1, 1, 1, 1}, .late_us = 10000}},
        {"of equal costs", 1000, 600, {.weights = {6, 3, 1}, .costs = {7, 7, 7}}},
        {"of costs above a share", 20, 8000, {.weights = {6, 3, 1}, .costs = {4, 4, 4}}},
        {"equal ones",
         1000,
         200,
         {.weights = {50, 50, 50, 50}, .costs = {1, 1, 1, 1}, .late_us = 10000}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        fleet f = rows[i].fleet;
        int64_t tokens = rows[i].tokens * rows[i].seconds;
        open_book(&b, limit_of(rows[i].tokens, SECOND, 8));
        takt_numbers_exhaust(&b.limit, &b.ledger.state, NOW);
        run_fleet(&b, &f, rows[i].seconds * SECOND);
        tokens -= tokens % f.costs[0];
        check_parts(rows[i].name, &f, tokens);
    }
}

/* A worker's waiters, the next first, of costs at random. */
typedef struct mixed {
    takt_want waiters[30];
    int64_t weight, again_us, taken;
} mixed;

static void draw_waiters(mixed *m, int from, uint64_t *random)
{
    for (int i = from; i < (int)COUNT(m->waiters); i++)
        m->waiters[i] =
            (takt_want){1, TAKT_NEVER, 1 + (int32_t)takt_random_below(random, 6), 5, {{0}}};
}

static void claim_mixed(book *b, int64_t at_us, int worker, mixed *m, uint64_t *random)
{
    takt_claim claim = {.worker = (uint64_t)worker + 1,
                        .seq = ++b->seq,
                        .waiting = COUNT(m->waiters),
                        .weight = m->weight,
                        .want_count = COUNT(m->waiters)};

    memcpy(claim.wants, m->waiters, sizeof m->waiters);
    b->slot_count = 0;
    send_claim(b, at_us, &claim);
    for (int i = 0; i < b->slot_count; i++)
        m->taken += b->slots[i].cost;
    memmove(m->waiters, m->waiters + b->given,
            (COUNT(m->waiters) - (size_t)b->given) * sizeof *m->waiters);
    draw_waiters(m, (int)COUNT(m->waiters) - (int)b->given, random);
    m->again_us = b->award.claim_again_at_us - NOW;
}

/* The first waiter of a turn of many shares tells nothing about the costs of the others: those
 * behind must be there when the turn is over. */
Test(weights, no_slot_stays_unused_if_costs_differ)
{
    static const int64_t weights[] = {64, 2, 1, 30, 5, 1, 16, 1};
    static book b;
    static mixed workers[COUNT(weights)];
    int64_t tokens = 0, claims = 0, awards = 0;
    uint64_t random = 7;
    takt_numbers limit = limit_of(50, SECOND, 6);
    int next = 0;

    limit.lookahead_us = 50 * MS;
    open_book(&b, limit);
    takt_numbers_exhaust(&b.limit, &b.ledger.state, NOW);
    for (size_t i = 0; i < COUNT(weights); i++) {
        workers[i].weight = weights[i];
        draw_waiters(&workers[i], 0, &random);
    }
    while (workers[next].again_us <= 200 * SECOND) {
        claim_mixed(&b, workers[next].again_us, next, &workers[next], &random);
        claims++;
        awards += b.given > 0;
        for (size_t i = 0; i < COUNT(weights); i++)
            next = workers[i].again_us < workers[next].again_us ? (int)i : next;
    }
    for (size_t i = 0; i < COUNT(weights); i++)
        tokens += workers[i].taken;
    cr_expect_geq(tokens, 50 * 200 - 6, "%" PRId64 " of 10000", tokens);
    cr_expect_lt(claims, 4 * awards, "%" PRId64 " claims for %" PRId64, claims, awards);
}

/* What nobody can use is left to nobody. */
Test(weights, a_place_has_no_more_shares_than_waiters)
{
    static book b;

    open_book(&b, limit_of(100, SECOND, 1));
    claim_for(&b, 0, 2, 1, (takt_want){100, TAKT_NEVER, 1, 5, {{0}}}, 0);
    claim_for(&b, 0, 0, 60000, (takt_want){3, TAKT_NEVER, 1, 5, {{0}}}, 0);
    claim_for(&b, 50 * MS, 1, 1, (takt_want){50, TAKT_NEVER, 1, 5, {{0}}}, 0);
    cr_assert_eq(b.given, 1, "%" PRId64, b.given);
}

Test(weights, permits_are_shared_by_weight)
{
    static book b;
    takt_want many = {50, TAKT_NEVER, 1, 5, {{0}}};

    open_book(&b,
              (takt_numbers){.lookahead_us = 250 * MS, .concurrency = 8, .lease_us = 30 * SECOND});
    claim_for(&b, 0, 8, 1, (takt_want){8, TAKT_NEVER, 1, 5, {{0}}}, 0);
    claim_for(&b, 0, 0, 3, many, 0);
    claim_for(&b, 0, 1, 1, many, 0);
    claim_for(&b, MS, 8, 1, (takt_want){0}, 0);
    cr_assert_eq(b.award.wake_count, 2);
    claim_for(&b, MS, 1, 1, many, 0);
    cr_assert_eq(b.given, 2, "six are left to the first");
    claim_for(&b, MS, 0, 3, many, 0);
    cr_assert_eq(b.given, 6);
    cr_assert_eq(takt_holders_held(&b.ledger), 8);
}

/* The processes behind a worker change, also in the middle of its turn. */
Test(weights, a_weight_may_change)
{
    static const struct {
        int64_t stated, kept, left;
    } rows[] = {
        {-5, 1, 0},   {0, 1, 0},          {1, 1, 0},          {27, 27, 0},
        {28, 28, 27}, {65535, 65535, 27}, {65536, 65535, 27}, {INT64_C(1) << 53, 65535, 27}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        takt_want many = {100, TAKT_NEVER, 1, 5, {{0}}};
        open_book(&b, limit_of(40, SECOND, 1));
        takt_numbers_exhaust(&b.limit, &b.ledger.state, NOW);
        claim_for(&b, 0, 2, 1, many, 0);
        claim_for(&b, 0, 0, 30, many, 0);
        claim_for(&b, 100 * MS, 0, 30, many, 0);
        cr_assert_eq(place_of(&b, 1, 5)->left, 27);
        claim_for(&b, 100 * MS, 0, rows[i].stated, many, 0);
        cr_assert_eq(place_of(&b, 1, 5)->weight, rows[i].kept, "row %zu", i);
        cr_assert_eq(place_of(&b, 1, 5)->left, rows[i].left, "row %zu", i);
    }
}

Test(weights, only_what_differs_from_1_is_in_the_text)
{
    static book b;
    static takt_numbers kept;
    char text[4096];
    size_t size;
    takt_want many = {100, TAKT_NEVER, 1, 5, {{0}}};

    open_book(&b, limit_of(40, SECOND, 1));
    takt_numbers_exhaust(&b.limit, &b.ledger.state, NOW);
    claim_for(&b, 0, 2, 1, many, 0);
    claim_for(&b, 0, 0, 0, many, 0);
    size = takt_ledger_encode(&b.ledger, text, sizeof text);
    const char *rest = memchr(text, ';', size);
    cr_assert_not_null(rest);
    cr_assert_null(memchr(rest, '*', size - (size_t)(rest - text)));
    claim_for(&b, 0, 0, 30, many, 0);
    claim_for(&b, 100 * MS, 0, 30, many, 0);
    size = takt_ledger_encode(&b.ledger, text, sizeof text - 1);
    text[size] = '\0';
    cr_assert_not_null(strstr(text, "*30+27,f"), "%s", text);
    cr_assert_eq(takt_ledger_decode(&b.ledger, &b.limit, &kept, NOW, text, size), 0);
    cr_assert_eq(place_of(&b, 1, 5)->weight, 30);
    cr_assert_eq(place_of(&b, 1, 5)->left, 27);
    cr_assert_eq(place_of(&b, 3, 5)->weight, 1);
}
