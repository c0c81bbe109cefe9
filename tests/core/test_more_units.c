/*
 * Limits whose rules count several units: all hold, the scarce one is used up, and the turns of a
 * line end with the unit that is used up first.  Time is virtual: every worker always wants more,
 * and claims when it is told to.
 */
#include "core/books.h"

#include "base/memory_pages.h"
#include "base/random.h"
#include "core/ledger_text.h"

#define WORKERS_MAX 8
#define WAITERS     40
#define MINUTES     6

/* A waiter's amounts, and the range that they are drawn from. */
typedef struct sort {
    int32_t least[TAKT_AMOUNTS_MAX], most[TAKT_AMOUNTS_MAX];
} sort;

typedef struct asker {
    takt_want wants[WAITERS]; /* the first the next */
    sort sort;
    int64_t again_us;
    takt_amounts taken;
} asker;

typedef struct start {
    int64_t slot_us;
    takt_amounts taken;
} start;

typedef struct fleet {
    book book;
    takt_memory_pages pages;
    asker askers[WORKERS_MAX];
    int count;
    start starts[TAKEN_MAX];
    int start_count;
    uint64_t random;
} fleet;

static takt_rule rule_counting(takt_unit unit, const takt_algorithm *algorithm, int64_t limit,
                               int64_t burst)
{
    takt_rule rule = {.algorithm = algorithm, .unit = unit, .limit = limit, .period_us = MINUTE};

    rule.burst = algorithm == &takt_gcra ? burst : 0;
    cr_assert_eq(takt_rule_prepare(&rule, NULL), 0);
    return rule;
}

/* What a language model's API counts: requests, tokens in and tokens out, and images. */
static takt_numbers model_limit(const takt_algorithm *algorithm, int64_t requests, int64_t in,
                                int64_t out, int64_t images)
{
    return (takt_numbers){.rule_count = 4,
                          .lookahead_us = TAKT_LOOKAHEAD_US,
                          .rules = {rule_counting(TAKT_UNIT_REQUESTS, algorithm, requests, 1),
                                    rule_counting(TAKT_UNIT_TOKENS, algorithm, in, 8000),
                                    rule_counting(TAKT_UNIT_MORE, algorithm, out, 2000),
                                    rule_counting(TAKT_UNIT_MORE + 1, algorithm, images, 20)}};
}

static int32_t draw(fleet *f, const sort *from, int unit)
{
    return from->least[unit] +
           (int32_t)takt_random_below(&f->random, from->most[unit] - from->least[unit] + 1);
}

static takt_want draw_want(fleet *f, const sort *from)
{
    takt_want want = {1, TAKT_NEVER, draw(f, from, 0), TAKT_PRIORITY_DEFAULT, {{0}}};

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        want.more.of[i] = draw(f, from, 1 + i);
    return want;
}

static void open_fleet(fleet *f, takt_numbers limit, int count, const sort *sorts)
{
    open_book(&f->book, limit);
    takt_memory_pages_init(&f->pages);
    takt_numbers_begin(&f->book.ledger.state, &f->pages.pages);
    takt_ledger_reset(&f->book.ledger, NOW);
    f->random = 1;
    f->start_count = 0;
    f->count = count;
    for (int i = 0; i < count; i++) {
        f->askers[i] = (asker){.sort = sorts[i]};
        for (int j = 0; j < WAITERS; j++)
            f->askers[i].wants[j] = draw_want(f, &sorts[i]);
    }
}

/* The first waiter of those amounts has its slot, and another one comes. */
static void serve(fleet *f, asker *self, const takt_run *run, int64_t slot_us)
{
    takt_amounts amounts = takt_amounts_of(run->cost, run->more);
    int at = 0;

    while (at < WAITERS &&
           (self->wants[at].cost != run->cost || !takt_more_same(self->wants[at].more, run->more)))
        at++;
    cr_assert_lt(at, WAITERS, "a slot for %d that nobody wanted", (int)run->cost);
    for (; at + 1 < WAITERS; at++)
        self->wants[at] = self->wants[at + 1];
    self->wants[at] = draw_want(f, &self->sort);
    for (int unit = 0; unit < TAKT_UNITS; unit++)
        self->taken.of[unit] += amounts.of[unit];
    cr_assert_lt(f->start_count, TAKEN_MAX);
    f->starts[f->start_count++] = (start){slot_us, amounts};
}

static void claim_for(fleet *f, int index, int64_t at_us)
{
    asker *self = &f->askers[index];
    const takt_award *award = &f->book.award;
    takt_claim claim = {.worker = (uint64_t)index + 1,
                        .seq = ++f->book.seq,
                        .waiting = WAITERS,
                        .want_count = WAITERS};

    memcpy(claim.wants, self->wants, sizeof self->wants);
    takt_ledger_claim(&f->book.ledger, NOW + at_us, &claim, &f->book.award);
    for (int i = 0; i < award->run_count; i++)
        for (int64_t j = 0; j < award->runs[i].count; j++)
            serve(f, self, &award->runs[i], takt_run_slot(&award->runs[i], j));
    self->again_us = takt_min(award->claim_again_at_us - NOW, at_us + TAKT_KEEPALIVE_US);
    if (award->in_line == 0) /* those that came since */
        self->again_us = at_us + MS;
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

static int compare_starts(const void *a, const void *b)
{
    int64_t left = ((const start *)a)->slot_us, right = ((const start *)b)->slot_us;

    return (left > right) - (left < right);
}

/* The most of a unit that began within any one minute. */
static int64_t most_in_a_minute(fleet *f, int unit)
{
    int64_t sum = 0, most = 0;

    qsort(f->starts, (size_t)f->start_count, sizeof(start), compare_starts);
    for (int i = 0, first = 0; i < f->start_count; i++) {
        sum += f->starts[i].taken.of[unit];
        for (; f->starts[first].slot_us <= f->starts[i].slot_us - MINUTE; first++)
            sum -= f->starts[first].taken.of[unit];
        most = takt_max(most, sum);
    }
    return most;
}

static int64_t all_of(const fleet *f, int unit)
{
    int64_t sum = 0;

    for (int i = 0; i < f->count; i++)
        sum += f->askers[i].taken.of[unit];
    return sum;
}

static const sort mixed = {{50, 20, 1, 0}, {8000, 1000, 2, 0}};
static const sort talkative = {{50, 1500, 1, 0}, {200, 2000, 1, 0}};
static const sort short_ones = {{50, 20, 1, 0}, {50, 20, 1, 0}};
static const sort pictures = {{100, 20, 10, 0}, {300, 50, 20, 0}};

Test(more_units, all_quotas_hold_and_the_scarce_one_is_used)
{
    static const struct {
        const char *name;
        int64_t quotas[TAKT_UNITS];
        const sort *sorts[4];
        int scarce;
    } rows[] = {
        {"tokens in", {200000, 500, 80000, 5000}, {&mixed, &mixed, &mixed, &mixed}, 0},
        {"requests", {900000, 60, 900000, 5000}, {&mixed, &mixed, &short_ones, &mixed}, 1},
        {"tokens out", {900000, 500, 20000, 5000}, {&mixed, &talkative, &mixed, &talkative}, 2},
        {"images", {900000, 900, 80000, 200}, {&pictures, &pictures, &pictures, &pictures}, 3},
    };
    static const takt_algorithm *const algorithms[] = {&takt_gcra, &takt_sliding_log,
                                                       &takt_fixed_window};
    static fleet f;

    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t j = 0; j < COUNT(algorithms); j++) {
            const int64_t *quotas = rows[i].quotas;
            sort sorts[4];
            for (int k = 0; k < 4; k++)
                sorts[k] = *rows[i].sorts[k];
            open_fleet(&f, model_limit(algorithms[j], quotas[1], quotas[0], quotas[2], quotas[3]),
                       4, sorts);
            run_fleet(&f);
            cr_expect_geq(1000 * all_of(&f, rows[i].scarce), 970 * MINUTES * quotas[rows[i].scarce],
                          "%s, %s: %" PRId64, rows[i].name, algorithms[j]->name,
                          1000 * all_of(&f, rows[i].scarce) / MINUTES / quotas[rows[i].scarce]);
            for (int unit = 0; unit < 4 && algorithms[j] == &takt_sliding_log; unit++)
                cr_expect_leq(most_in_a_minute(&f, unit), quotas[unit], "%s, unit %d", rows[i].name,
                              unit);
        }
}

/* Workers whose work is bounded by different units get the same part of what bounds each. */
Test(more_units, turns_end_with_the_unit_that_is_used_up_first)
{
    static const sort sorts[] = {{{800, 20, 1, 0}, {1200, 20, 1, 0}},
                                 {{50, 180, 1, 0}, {50, 220, 1, 0}}};
    static fleet f;

    open_fleet(&f, model_limit(&takt_gcra, 5000, 200000, 40000, 50000), 2, sorts);
    run_fleet(&f);
    /* of 200,000 tokens in and of 40,000 tokens out a minute */
    cr_expect_geq(1000 * f.askers[0].taken.of[0], 450 * MINUTES * 200000);
    cr_expect_geq(1000 * f.askers[1].taken.of[2], 450 * MINUTES * 40000);
}

static takt_numbers two_units(void)
{
    takt_numbers limit = {.rule_count = 2, .lookahead_us = TAKT_LOOKAHEAD_US};

    limit.rules[0] = rule_counting(TAKT_UNIT_TOKENS, &takt_gcra, 6000, 100);
    limit.rules[1] = rule_counting(TAKT_UNIT_MORE, &takt_gcra, 600, 50);
    return limit;
}

static takt_amounts left(const book *b, int64_t at_us)
{
    return takt_numbers_room(b->ledger.numbers, &b->ledger.state, NOW + at_us, NOW + at_us);
}

/* A worker with an older policy states nothing of a unit that the rules count. */
Test(more_units, an_amount_that_is_not_stated_counts_as_one)
{
    int64_t retry_us;
    book b;

    open_book(&b, two_units());
    cr_assert(takt_ledger_try(&b.ledger, NOW, 10, TAKT_NO_MORE, &retry_us));
    cr_expect_eq(left(&b, 0).of[TAKT_UNIT_TOKENS], 90);
    cr_expect_eq(left(&b, 0).of[TAKT_UNIT_MORE], 49);
    say(&b, 0, 1, 5, 10, 3);
    cr_expect_eq(b.given, 3);
    cr_expect_eq(left(&b, 0).of[TAKT_UNIT_MORE], 46);
}

Test(more_units, a_try_takes_all_or_nothing)
{
    int64_t retry_us;
    book b;

    open_book(&b, two_units());
    cr_assert(takt_ledger_try(&b.ledger, NOW, 10, (takt_more){{45}}, &retry_us));
    cr_expect_not(takt_ledger_try(&b.ledger, NOW, 10, (takt_more){{6}}, &retry_us));
    cr_expect_eq(retry_us, NOW + 100 * MS, "ten a second, one is lacking");
    cr_expect_eq(left(&b, 0).of[TAKT_UNIT_TOKENS], 90);
    cr_expect_not(takt_ledger_try(&b.ledger, NOW, 10, (takt_more){{51}}, &retry_us));
    cr_expect_eq(retry_us, TAKT_NEVER, "more than the burst");
}

Test(more_units, each_is_settled_and_lowered_by_itself)
{
    int64_t retry_us;
    book b;

    open_book(&b, two_units());
    cr_assert(takt_ledger_try(&b.ledger, NOW, 60, (takt_more){{30}}, &retry_us));
    takt_ledger_settle(&b.ledger, NOW, NOW, (takt_amounts){{60, 0, 30}},
                       (takt_amounts){{20, 0, 40}});
    cr_expect_eq(left(&b, 0).of[TAKT_UNIT_TOKENS], 80);
    cr_expect_eq(left(&b, 0).of[TAKT_UNIT_MORE], 10);
    takt_ledger_settle(&b.ledger, NOW, NOW, (takt_amounts){{20, 1, 40}}, (takt_amounts){{0}});
    cr_expect_eq(left(&b, 0).of[TAKT_UNIT_TOKENS], 100);
    cr_expect_eq(left(&b, 0).of[TAKT_UNIT_MORE], 50);
    takt_ledger_lower(&b.ledger, NOW, (takt_amounts){{-1, -1, 7, -1, -1}});
    cr_expect_eq(left(&b, 0).of[TAKT_UNIT_TOKENS], 100);
    cr_expect_eq(left(&b, 0).of[TAKT_UNIT_MORE], 7);
}

/* All others leave what the head needs of each unit, and hear of it when the head goes. */
Test(more_units, the_needs_of_a_head_that_goes_are_news)
{
    takt_claim claim = {.worker = 1, .seq = 1, .waiting = 1, .want_count = 1};
    int64_t retry_us;
    book b;

    open_book(&b, two_units());
    cr_assert(takt_ledger_try(&b.ledger, NOW, 1, (takt_more){{50}}, &retry_us));
    claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, 5, {{40}}};
    send_claim(&b, 0, &claim);
    cr_assert_eq(b.given, 0);
    claim = (takt_claim){.worker = 2, .seq = 1, .waiting = 9, .want_count = 1};
    claim.wants[0] = (takt_want){9, TAKT_NEVER, 1, 5, {{1}}};
    send_claim(&b, SECOND, &claim);
    cr_expect_eq(b.given, 0, "the first needs 40");
    claim = (takt_claim){.worker = 1, .seq = 2};
    send_claim(&b, SECOND, &claim);
    cr_expect(b.award.news);
}

/* A place may tell what it needed of a unit that no rule counts any more: nothing was left for
 * that. */
Test(more_units, the_needs_of_a_unit_that_counts_no_more_are_no_news)
{
    takt_claim claim = {.worker = 1, .seq = 1, .waiting = 2, .want_count = 1};
    takt_numbers newer = two_units();
    int64_t retry_us;
    book b;

    open_book(&b, two_units());
    cr_assert(takt_ledger_try(&b.ledger, NOW, 1, (takt_more){{50}}, &retry_us));
    claim.wants[0] = (takt_want){2, TAKT_NEVER, 1, 5, {{40}}};
    send_claim(&b, 0, &claim);
    cr_assert_eq(b.given, 0);
    claim = (takt_claim){.worker = 2, .seq = 1, .waiting = 9, .want_count = 1};
    claim.wants[0] = (takt_want){9, TAKT_NEVER, 1, 5, {{1}}};
    send_claim(&b, 0, &claim);
    newer.rule_count = 1;
    newer.revision++;
    takt_ledger_adopt(&b.ledger, &newer, NOW + SECOND);
    claim = (takt_claim){.worker = 1, .seq = 2, .waiting = 1, .want_count = 1};
    claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, 5, {{1}}};
    send_claim(&b, SECOND, &claim);
    cr_expect(!b.award.news);
}

/* What a place wants and needs of each unit survives in the text. */
Test(more_units, places_are_written_and_read)
{
    takt_claim claim = {.worker = 1, .seq = 1, .waiting = 7, .want_count = 1};
    char text[1024];
    takt_place line[LINE_MAX];
    takt_numbers kept;
    takt_ledger again = {.line = line, .line_capacity = LINE_MAX};
    int64_t retry_us;
    size_t size;
    book b;

    open_book(&b, two_units());
    cr_assert(takt_ledger_try(&b.ledger, NOW, 1, (takt_more){{50}}, &retry_us));
    claim.wants[0] = (takt_want){7, TAKT_NEVER, 2, 5, {{40}}};
    send_claim(&b, 0, &claim);
    size = takt_ledger_encode(&b.ledger, text, sizeof text);
    text[size] = '\0';
    cr_assert(strstr(text, ";g&2:"), "%s", text);
    cr_assert(strstr(text, ",f/280,40"), "%s", text);
    cr_assert_eq(takt_ledger_decode(&again, &b.limit, &kept, NOW, text, size), 0);
    cr_assert_eq(again.line_count, 1);
    cr_expect_eq(line[0].more.of[TAKT_UNIT_MORE], 280);
    cr_expect_eq(line[0].needs.of[TAKT_UNIT_MORE], 40);
    for (const char *bad = "0159:"; *bad; bad++) { /* "&0:" and so on are no units */
        char *at = strstr(text, "&2:");
        at[1] = *bad;
        cr_expect_lt(takt_ledger_decode(&again, &b.limit, &kept, NOW, text, size), 0, "%c", *bad);
        at[1] = '2';
    }
}
