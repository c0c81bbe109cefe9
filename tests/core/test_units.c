/*
 * Rules that count requests beside rules that count tokens: both hold, the scarce one is used up,
 * and neither small nor large requests starve. Time is virtual: each worker always wants more, and
 * claims at its announced times.
 */
#include "core/books.h"

#include "base/memory_pages.h"
#include "base/random.h"

#define WORKERS_MAX 8
#define WAITERS     40
#define MINUTES     6

typedef struct asker {
    int32_t costs[WAITERS]; /* of its waiters, the first the next */
    int32_t least, most;
    int64_t again_us, requests, tokens;
} asker;

typedef struct fleet {
    book book;
    takt_memory_pages pages;
    asker askers[WORKERS_MAX];
    int count;
    int64_t claims;
    uint64_t random;
} fleet;

static takt_rule rule_counting(takt_unit unit, const takt_algorithm *algorithm, int64_t limit,
                               int64_t burst)
{
    takt_rule rule = {
        .algorithm = algorithm, .unit = unit, .limit = limit, .period_us = MINUTE, .burst = burst};

    cr_assert_eq(takt_rule_prepare(&rule, NULL), 0);
    return rule;
}

static takt_numbers requests_and_tokens(const takt_algorithm *algorithm, int64_t requests,
                                        int64_t tokens)
{
    bool bucket = algorithm == &takt_gcra;

    return (takt_numbers){
        .rule_count = 2,
        .lookahead_us = TAKT_LOOKAHEAD_US,
        .rules = {rule_counting(TAKT_UNIT_REQUESTS, algorithm, requests, bucket ? 1 : 0),
                  rule_counting(TAKT_UNIT_TOKENS, algorithm, tokens, bucket ? 8000 : 0)}};
}

static void open_fleet(fleet *f, takt_numbers limit, int count, const int32_t costs[][2])
{
    open_book(&f->book, limit);
    takt_memory_pages_init(&f->pages);
    takt_numbers_begin(&f->book.ledger.state, &f->pages.pages);
    takt_ledger_reset(&f->book.ledger, NOW);
    f->random = 1;
    f->claims = 0;
    f->count = count;
    for (int i = 0; i < count; i++) {
        f->askers[i] = (asker){.least = costs[i][0], .most = costs[i][1]};
        for (int j = 0; j < WAITERS; j++)
            f->askers[i].costs[j] =
                costs[i][0] + (int32_t)takt_random_below(&f->random, costs[i][1] - costs[i][0] + 1);
    }
}

/* The first waiter of that cost has its slot, and another one comes. */
static void serve(fleet *f, asker *self, int32_t cost)
{
    int at = 0;

    while (at < WAITERS && self->costs[at] != cost)
        at++;
    cr_assert_lt(at, WAITERS, "a slot for %d tokens that nobody wanted", (int)cost);
    for (; at + 1 < WAITERS; at++)
        self->costs[at] = self->costs[at + 1];
    self->costs[at] =
        self->least + (int32_t)takt_random_below(&f->random, self->most - self->least + 1);
    self->requests++;
    self->tokens += cost;
}

static void claim_for(fleet *f, int index, int64_t at_us)
{
    asker *self = &f->askers[index];
    int first = f->book.slot_count;
    takt_claim claim = {.worker = (uint64_t)index + 1,
                        .seq = ++f->book.seq,
                        .waiting = WAITERS,
                        .want_count = WAITERS};

    for (int i = 0; i < WAITERS; i++)
        claim.wants[i] = (takt_want){1, TAKT_NEVER, self->costs[i], TAKT_PRIORITY_DEFAULT, {{0}}};
    send_claim(&f->book, at_us, &claim);
    for (int i = first; i < f->book.slot_count; i++)
        serve(f, self, (int32_t)f->book.slots[i].cost);
    self->again_us = takt_min(f->book.award.claim_again_at_us - NOW, at_us + TAKT_KEEPALIVE_US);
    if (f->book.award.in_line == 0) /* those that came since */
        self->again_us = at_us + MS;
    f->claims++;
}

static void run_fleet(fleet *f)
{
    int64_t at_us = 0;

    while (at_us < MINUTES * MINUTE) {
        int next = 0;
        for (int i = 1; i < f->count; i++)
            if (f->askers[i].again_us < f->askers[next].again_us)
                next = i;
        at_us = takt_max(at_us, f->askers[next].again_us);
        claim_for(f, next, at_us);
    }
    takt_memory_pages_close(&f->pages);
}

/* The most of a unit that began within any one minute. */
static int64_t most_in_a_minute(fleet *f, takt_unit unit)
{
    int64_t sum = 0, most = 0;

    qsort(f->book.slots, (size_t)f->book.slot_count, sizeof(taken), compare_taken);
    for (int i = 0, first = 0; i < f->book.slot_count; i++) {
        const taken *slots = f->book.slots;
        sum += unit == TAKT_UNIT_TOKENS ? slots[i].cost : 1;
        for (; slots[first].slot_us <= slots[i].slot_us - MINUTE; first++)
            sum -= unit == TAKT_UNIT_TOKENS ? slots[first].cost : 1;
        most = takt_max(most, sum);
    }
    return most;
}

static int64_t all_of(const fleet *f, takt_unit unit)
{
    int64_t sum = 0;

    for (int i = 0; i < f->count; i++)
        sum += unit == TAKT_UNIT_TOKENS ? f->askers[i].tokens : f->askers[i].requests;
    return sum;
}

/* Each worker has the same part of what its work needs most of: those with large requests let
 * others have as many turns as theirs are worth. */
Test(units, who_needs_much_at_once_has_no_more_than_others)
{
    static const struct {
        const char *name;
        int64_t requests, tokens;
        int32_t costs[5][2];
        int workers;
    } rows[] = {
        {"much and little", 100000, 240000, {{4000, 8000}, {50, 200}}, 2},
        {"one of four", 100000, 240000, {{4000, 8000}, {100, 400}, {200, 200}, {50, 250}}, 4},
        {"three of four", 100000, 240000, {{4000, 4000}, {8000, 8000}, {500, 2000}, {50, 50}}, 4},
        {"more than a share", 100000, 240000, {{600, 900}, {200, 200}, {100, 300}}, 3},
        {"all the same", 100000, 240000, {{5000, 5000}, {5000, 5000}, {5000, 5000}}, 3},
        {"two units", 500, 200000, {{50, 50}, {50, 50}, {4000, 8000}, {4000, 8000}}, 4},
    };
    static fleet f;

    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t least = INT64_MAX, most = 0;
        open_fleet(&f, requests_and_tokens(&takt_gcra, rows[i].requests, rows[i].tokens),
                   rows[i].workers, rows[i].costs);
        run_fleet(&f);
        for (int worker = 0; worker < f.count; worker++) {
            int64_t part =
                takt_max(1000000 * f.askers[worker].requests / (MINUTES * rows[i].requests),
                         1000000 * f.askers[worker].tokens / (MINUTES * rows[i].tokens));
            least = takt_min(least, part);
            most = takt_max(most, part);
        }
        cr_expect_geq(100 * least, 80 * most, "%s: %d and %d", rows[i].name, (int)least, (int)most);
        cr_expect_geq(1000 * all_of(&f, TAKT_UNIT_TOKENS), 940 * MINUTES * rows[i].tokens, "%s: %d",
                      rows[i].name, (int)all_of(&f, TAKT_UNIT_TOKENS));
    }
}

/* "500 requests a minute and 200,000 tokens a minute", and workers of which some need more of the
 * one and some of the other. */
Test(units, both_quotas_hold_and_the_scarce_one_is_used)
{
    static const struct {
        const char *name;
        int64_t requests, tokens;
        int32_t costs[4][2];
        takt_unit scarce;
        int used; /* per mille: less where both are nearly used up */
    } rows[] = {
        {"tokens are scarce",
         500,
         200000,
         {{50, 8000}, {50, 8000}, {50, 8000}, {50, 8000}},
         0,
         970},
        {"requests are scarce", 500, 200000, {{1, 300}, {1, 300}, {1, 300}, {1, 300}}, 1, 970},
        {"of some the one", 500, 200000, {{50, 50}, {50, 50}, {4000, 8000}, {4000, 8000}}, 0, 940},
        {"of some the other", 60, 2000000, {{50, 50}, {50, 50}, {4000, 8000}, {50, 8000}}, 1, 970},
    };
    static const takt_algorithm *const algorithms[] = {&takt_gcra, &takt_sliding_log,
                                                       &takt_fixed_window};
    static fleet f;

    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t j = 0; j < COUNT(algorithms); j++) {
            takt_numbers limit =
                requests_and_tokens(algorithms[j], rows[i].requests, rows[i].tokens);
            const int64_t quotas[TAKT_UNITS] = {rows[i].tokens, rows[i].requests};
            open_fleet(&f, limit, 4, rows[i].costs);
            run_fleet(&f);
            cr_expect_geq(1000 * all_of(&f, rows[i].scarce),
                          rows[i].used * MINUTES * quotas[rows[i].scarce], "%s, %s", rows[i].name,
                          algorithms[j]->name);
            for (int unit = 0; unit <= TAKT_UNIT_REQUESTS && algorithms[j] == &takt_sliding_log;
                 unit++)
                cr_expect_leq(most_in_a_minute(&f, (takt_unit)unit), quotas[unit], "%s, unit %d",
                              rows[i].name, unit);
        }
}

/* One worker needs mostly requests and the other one tokens. A turn is at least one request of any
 * size, so large requests get more of the tokens; small ones do not starve. */
Test(units, neither_small_nor_large_requests_are_starved)
{
    static const int32_t costs[2][2] = {{50, 50}, {8000, 8000}};
    static const takt_algorithm *const algorithms[] = {&takt_gcra, &takt_sliding_log,
                                                       &takt_fixed_window};
    static fleet f;

    for (size_t i = 0; i < COUNT(algorithms); i++) {
        open_fleet(&f, requests_and_tokens(algorithms[i], 500, 200000), 2, costs);
        run_fleet(&f);
        cr_expect_geq(100 * f.askers[0].requests, 4 * MINUTES * 500, "%s: %" PRId64 " small ones",
                      algorithms[i]->name, f.askers[0].requests);
        cr_expect_geq(100 * f.askers[1].tokens, 50 * MINUTES * 200000, "%s: %" PRId64 " large ones",
                      algorithms[i]->name, f.askers[1].requests);
    }
}

/* A vendor's remaining count of one unit does not change the other unit. */
Test(units, each_is_lowered_by_itself)
{
    takt_numbers numbers = requests_and_tokens(&takt_gcra, 60, 60000);
    takt_amounts room;
    book b;

    numbers.rules[0].burst = 50;
    cr_assert_eq(takt_rule_prepare(&numbers.rules[0], NULL), 0);
    open_book(&b, numbers);
    takt_ledger_lower(&b.ledger, NOW, (takt_amounts){{-1, 7}});
    room = takt_numbers_room(b.ledger.numbers, &b.ledger.state, NOW, NOW);
    cr_expect_eq(room.of[TAKT_UNIT_REQUESTS], 7);
    cr_expect_eq(room.of[TAKT_UNIT_TOKENS], 8000);
    takt_ledger_lower(&b.ledger, NOW, (takt_amounts){{300, 9}});
    room = takt_numbers_room(b.ledger.numbers, &b.ledger.state, NOW, NOW);
    cr_expect_eq(room.of[TAKT_UNIT_REQUESTS], 7, "never more");
    cr_expect_eq(room.of[TAKT_UNIT_TOKENS], 300);
    takt_ledger_lower(&b.ledger, NOW, (takt_amounts){{-1, -1}});
    room = takt_numbers_room(b.ledger.numbers, &b.ledger.state, NOW, NOW);
    cr_expect_eq(room.of[TAKT_UNIT_REQUESTS], 7);
    cr_expect_eq(room.of[TAKT_UNIT_TOKENS], 300);
}
